#include "runtime/model/lora.h"

#include <assert.h>

#include "kernels/ref/scalar.h"
#include "runtime/base/crc32c.h"
#include "runtime/image/adapter_image.h"

enum { STRIDE_FLOATS = 16 }; /* each row of u begins a new cache line */

uint32_t lora_stride(uint32_t ranks)
{
    return (ranks + STRIDE_FLOATS - 1) / STRIDE_FLOATS * STRIDE_FLOATS;
}

uint32_t lora_crc(const struct lora *l)
{
    uint32_t crc = 0;

    for (uint32_t i = 0; l != NULL && i < l->n; i++) {
        uint32_t parts[2] = { l->uses[i].adapter->header->header_crc32c,
                              f32_bits(l->uses[i].scale) };

        crc = crc32c(crc, parts, sizeof parts);
    }
    return crc;
}

/* ---- the pairs of a layer -------------------------------------------------------------------- */

/* Return the first pair of the layer or of a later layer. */
static uint32_t find_layer(const struct lora_adapter *a, uint32_t layer)
{
    uint32_t low = 0, high = a->header->n_pairs;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (a->pairs[middle].layer < layer) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void add_pair(struct lora *l, const struct lora_use *use, const struct adapter_pair *p,
                     uint32_t *n, uint32_t *at)
{
    assert(*n < sizeof l->pairs / sizeof l->pairs[0]);
    l->pairs[(*n)++] = (struct lora_pair){ p, use->adapter, use->scale * p->scale, *at };
    *at += p->rank;
}

void lora_enter(struct lora *l, uint32_t layer)
{
    uint32_t next[LORA_MOST], n = 0, at = 0;

    for (uint32_t i = 0; i < l->n; i++) {
        next[i] = find_layer(l->uses[i].adapter, layer);
    }
    for (uint32_t role = 0; role < INGOT_N_ROLES; role++) {
        l->first[role] = (uint8_t)n;
        for (uint32_t i = 0; i < l->n; i++) {
            const struct lora_adapter *a = l->uses[i].adapter;
            const struct adapter_pair *p = &a->pairs[next[i]];

            if (next[i] < a->header->n_pairs && p->layer == layer && p->role == role) {
                add_pair(l, &l->uses[i], p, &n, &at);
                next[i]++;
            }
        }
    }
    l->first[INGOT_N_ROLES] = (uint8_t)n;
    assert(at <= l->stride);
}

/* ---- u = s A x ------------------------------------------------------------------------------- */

static void shrink(const struct lora *l, const struct lora_pair *p, const struct kernels *k,
                   const struct activations *a, const struct linear_input *in, size_t row)
{
    const struct ingot_tensor matrix = { .type = (uint8_t)p->adapter->type,
                                         .rows = p->pair->rank,
                                         .cols = p->pair->cols,
                                         .cols_padded = adapter_cols_padded(p->pair->cols) };
    float *u = l->u + row * l->stride + p->first;

    linear_rows(k, a, &matrix, p->adapter->data + p->pair->a, in, u, l->stride, 0, p->pair->rank);
    for (uint32_t i = 0; i < in->n_tokens; i++) {
        k->scale_f32(u + i * l->stride, u + i * l->stride, p->pair->rank, p->scale);
    }
}

void lora_shrink(const struct lora *l, const struct kernels *k, const struct activations *a,
                 uint64_t roles, const struct linear_input *in, size_t first, size_t last)
{
    struct linear_input part = { in->x + first * in->stride, in->stride, (uint32_t)(last - first),
                                 0 };

    for (uint32_t i = 0; last > first && i < l->first[INGOT_N_ROLES]; i++) {
        if ((roles >> l->pairs[i].pair->role & 1) != 0) {
            shrink(l, &l->pairs[i], k, a, &part, in->first + first);
        }
    }
}

/* ---- y += B u -------------------------------------------------------------------------------- */

static void expand(const struct lora_pair *p, const struct kernels *k, size_t first, size_t n,
                   float *y, const float *u)
{
    const void *b = p->adapter->data + p->pair->b;
    size_t at = first * p->pair->rank; /* `first` is a multiple of a group's rows */

    if (p->adapter->type == INGOT_F16) {
        k->expand_f32_f16(y, (const uint16_t *)b + at, u, n, p->pair->rank);
    } else {
        k->expand_f32_f32(y, (const float *)b + at, u, n, p->pair->rank);
    }
}

void lora_expand(const struct lora *l, const struct kernels *k, enum ingot_role role, size_t first,
                 size_t n, float *y, size_t y_stride, const struct linear_input *in)
{
    for (uint32_t i = l->first[role]; i < l->first[role + 1]; i++) {
        for (uint32_t t = 0; t < in->n_tokens; t++) {
            expand(&l->pairs[i], k, first, n, y + t * y_stride,
                   l->u + (in->first + t) * l->stride + l->pairs[i].first);
        }
    }
}

void lora_embed(const struct lora *l, const struct kernels *k, uint32_t token, float scale,
                float *x)
{
    for (uint32_t i = l->first[INGOT_TOKEN_EMBEDDING]; i < l->first[INGOT_TOKEN_EMBEDDING + 1];
         i++) {
        const struct lora_pair *p = &l->pairs[i];
        size_t rank = p->pair->rank;
        const void *a = p->adapter->data + p->pair->a;
        const float *row = (const float *)a + token * rank;

        if (p->adapter->type == INGOT_F16) {
            k->convert_f32_f16(l->u, (const uint16_t *)a + token * rank, rank);
            row = l->u;
        }
        k->scale_f32(l->u, row, rank, p->scale * scale);
        expand(p, k, 0, p->pair->rows, x, l->u);
    }
}
