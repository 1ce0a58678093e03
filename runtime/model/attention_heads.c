/* Latent keys (DeepSeek's MLA) are used in the absorbed form. All heads share one key. This short
 * row consists of the layer's compressed input, normed, and a part that rotates. The matrix that
 * would make a head's key from this row multiplies the query instead (ATTN_K_B), and the matrix
 * that would make the head's value multiplies the attended sum (ATTN_V_B). So the cache keeps one
 * short row for each position, and attention works as with one kv head. */
#include "runtime/model/attention_heads.h"

#include <string.h>

#include "runtime/compute/kv_cache.h"
#include "runtime/image/image.h"

/* Return the layer's row in a table of rotations for a token of the chunk. Call this only if the
 * layer has a rotation. */
static const float *rotation(const struct transformer *t, float *const *tables, size_t token)
{
    return tables[t->data->rope] + token * params(t)->head_dim;
}

static void rotate(const struct transformer *t, float *head, float *const *tables, size_t token)
{
    const struct ingot_rope *rope;

    if (t->data->rope == INGOT_NO_ROPE) {
        return;
    }
    rope = &t->image->header->ropes[t->data->rope];
    if (rope->kind == INGOT_ROPE_PAIRS) {
        t->kernels->rope_f32_pairs(head, rotation(t, tables, token), rope->dims);
    } else {
        t->kernels->rope_f32_halves(head, rotation(t, tables, token), rope->dims);
    }
}

/* Return how many dimensions of a head rotate. */
static uint32_t rotated_dims(const struct transformer *t)
{
    if (t->data->rope == INGOT_NO_ROPE) {
        return 0;
    }
    return t->image->header->ropes[t->data->rope].dims;
}

/* Norm one head, unless a wide norm has normed all heads together before. */
static void norm_head(const struct transformer *t, float *head, enum ingot_role norm)
{
    const float *weights = layer_vector(t, norm);

    if (weights != NULL && !attention_has(t, INGOT_QK_NORM_WIDE)) {
        t->kernels->rmsnorm_f32(head, head, weights, t->data->head_dim, params(t)->norm_eps, 0.0f);
    }
}

/* Norm, rotate and scale a query. Rotated dimensions get their scale from the table, unless a norm
 * follows, which would cancel the scale. */
static void prepare_query(const struct transformer *t, float *q, uint32_t token)
{
    uint32_t d = t->data->head_dim, scaled = rotated_dims(t);

    if (attention_has(t, INGOT_QK_NORM_LATE)) {
        rotate(t, q, t->act.cos_sin, token);
        norm_head(t, q, INGOT_ATTN_Q_NORM);
        scaled = 0;
    } else {
        norm_head(t, q, INGOT_ATTN_Q_NORM);
        rotate(t, q, t->act.cos_sin_query, token);
    }
    /* Scale the dimensions that do not get their scale from the table. */
    if (scaled < d) {
        t->kernels->scale_f32(q + scaled, q + scaled, d - scaled, t->data->attn_scale);
    }
}

/* Prepare the value of a head, from its key if values have no matrix. */
static void prepare_value(const struct transformer *t, float *v, const float *k)
{
    uint32_t d = t->data->head_dim;

    if (attention_has(t, INGOT_V_IS_K)) {
        memcpy(v, k, d * sizeof *v);
    }
    /* A norm without weights: (x / rms) (0 + 1). */
    if (attention_has(t, INGOT_V_NORM)) {
        t->kernels->rmsnorm_f32(v, v, t->act.zeros, d, params(t)->norm_eps, 1.0f);
    }
}

static void prepare_key(const struct transformer *t, float *k, uint32_t token)
{
    if (attention_has(t, INGOT_QK_NORM_LATE)) {
        rotate(t, k, t->act.cos_sin, token);
        norm_head(t, k, INGOT_ATTN_K_NORM);
        return;
    }
    norm_head(t, k, INGOT_ATTN_K_NORM);
    rotate(t, k, t->act.cos_sin, token);
}

/* ---- latent keys ----------------------------------------------------------------------------- */

/* Compute y = W x for one head's rows in a matrix of all heads. x has room for whole blocks. */
static void multiply_head(const struct transformer *t, unsigned core, enum ingot_role role,
                          uint32_t head, float *x, float *y)
{
    const struct ingot_tensor *w = t->tensors[role];
    uint32_t n = w->rows / t->data->n_heads;
    size_t row_bytes = image_type_row_bytes(w->type, w->cols_padded);

    /* Pad x with zeros to whole blocks. */
    memset(x + w->cols, 0, (w->cols_padded - w->cols) * sizeof *x);
    linear_vector(t->kernels, w, t->segment + w->offset + (size_t)head * n * row_bytes, x,
                  t->act.attention[core].blocks, y, n);
}

static void latent_query(const struct transformer *t, unsigned core, uint32_t head, uint32_t token,
                         float *q)
{
    const struct ingot_layer *l = t->data;
    const float *from = t->act.q + token * t->act.q_stride + (size_t)head * l->query_dim;
    uint32_t rotated = l->head_dim - l->kv_rank, plain = l->query_dim - rotated;
    float *x = t->act.attention[core].out;

    /* Multiply the part that does not rotate by the matrix of keys. */
    memcpy(x, from, plain * sizeof *x);
    multiply_head(t, core, INGOT_ATTN_K_B, head, x, q);
    t->kernels->scale_f32(q, q, l->kv_rank, l->attn_scale);
    /* Put the rotated part last, as in the keys. */
    memcpy(q + l->kv_rank, from + plain, rotated * sizeof *q);
    rotate(t, q + l->kv_rank, t->act.cos_sin_query, token);
}

static void latent_key(const struct transformer *t, float *k, uint32_t token)
{
    uint32_t rank = t->data->kv_rank;

    t->kernels->rmsnorm_f32(k, k, layer_vector(t, INGOT_ATTN_K_NORM), rank, params(t)->norm_eps,
                            0.0f);
    rotate(t, k + rank, t->act.cos_sin, token);
}

/* ---- both kinds of keys ---------------------------------------------------------------------- */

void attention_query(const struct transformer *t, unsigned core, uint32_t head, uint32_t token,
                     float *q)
{
    size_t d = t->data->head_dim;

    if (attention_has(t, INGOT_LATENT_KV)) {
        latent_query(t, core, head, token, q);
        return;
    }
    memcpy(q, t->act.q + token * t->act.q_stride + head * d, d * sizeof *q);
    prepare_query(t, q, token);
}

const float *attention_key_value(const struct transformer *t, uint32_t head, uint32_t token,
                                 float **key)
{
    size_t at = token * t->act.kv_stride + (size_t)head * t->data->head_dim;
    float *k = t->act.k + at, *v = t->act.v + at;

    *key = k;
    /* With latent keys the value is the first part of the key. */
    if (attention_has(t, INGOT_LATENT_KV)) {
        latent_key(t, k, token);
        return k;
    }
    /* Prepare the value before the key is normed and rotated, because the value may be made from
     * the key. */
    prepare_value(t, v, k);
    prepare_key(t, k, token);
    return v;
}

void attention_result(const struct transformer *t, unsigned core, uint32_t head, uint32_t token,
                      const float *out, float sum)
{
    size_t stride = layer_stride(t, INGOT_ATTN_OUT), d = kv_cache_value_dim(t->data);
    float *to = t->act.attended + token * stride + (size_t)head * t->data->value_dim;
    float *x = t->act.attention[core].q;

    if (!attention_has(t, INGOT_LATENT_KV)) {
        t->kernels->scale_f32(to, out, d, 1.0f / sum);
        return;
    }
    /* Scale the sum of latent rows, then multiply it by the matrix of values. */
    t->kernels->scale_f32(x, out, d, 1.0f / sum);
    multiply_head(t, core, INGOT_ATTN_V_B, head, x, to);
}
