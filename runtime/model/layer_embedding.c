#include "runtime/model/layer_embedding.h"

#include <math.h>
#include <string.h>

#include "runtime/image/image.h"

void layer_embedding_ask(struct transformer *t, const uint32_t *tokens, uint32_t n)
{
    if (params(t)->per_layer_dim != 0) {
        stream_table_ask(t->stream, tokens, n);
    }
}

/* Convert the row of a token from its group of eight rows. */
static void read_rows(const struct transformer *t, const struct ingot_tensor *w, const void *group,
                      uint32_t token)
{
    float *row = t->act.rows_per_layer + token * t->act.per_layer_stride;
    float *padded = t->act.per_layer + token * t->act.per_layer_stride;

    for (uint32_t i = 0; i < INGOT_TABLE_ROWS; i++) {
        linear_row(t->kernels, w, padded, group, i);
        memcpy(row + i * w->cols, padded, w->cols * sizeof *row);
    }
}

enum err layer_embedding_read(struct transformer *t, uint32_t n)
{
    const struct ingot_tensor *w = image_tensor(t->image, INGOT_PER_LAYER_EMBEDDING,
                                                INGOT_NO_LAYER);

    for (uint32_t i = 0; w != NULL && i < n; i++) {
        const uint8_t *group;
        enum err e = stream_table_rows(t->stream, i, &group);

        if (e != ERR_OK) {
            return e;
        }
        read_rows(t, w, group, i);
    }
    return ERR_OK;
}

/* Quantize this core's tokens of x, without a norm, for a matrix. */
static void take_x(const struct transformer *t, unsigned core, const struct ingot_tensor *w)
{
    const struct activations *a = &t->act;
    struct linear_input in = layer_normed(t, core);
    float *to = a->norm + in.first * a->dim_stride;
    size_t first = 0, last = 1;

    if (!layer_alone(t)) {
        layer_share_tokens(t, core, &first, &last);
    }
    for (size_t i = first; i < last; i++) {
        memcpy(to + i * a->dim_stride, a->x + i * a->dim_stride, params(t)->dim * sizeof(float));
    }
    linear_prepare(t->kernels, a, 1u << w->type, &in, first, last);
}

/* For one token and one layer, combine the product with the matrix, y (d), with the token's row (d)
 * of the table. */
static void combine(const struct transformer *t, float *y, const float *row, const float *weights)
{
    uint32_t d = params(t)->per_layer_dim;

    t->kernels->scale_f32(y, y, d, 1.0f / sqrtf((float)params(t)->dim));
    t->kernels->rmsnorm_f32(y, y, weights, d, params(t)->norm_eps, 0.0f);
    t->kernels->add_scaled_f32(y, row, d, sqrtf((float)d));
    t->kernels->scale_f32(y, y, d, 1.0f / sqrtf(2.0f));
}

void layer_embedding_begin(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    const struct ingot_tensor *w = t->tensors[INGOT_PER_LAYER_PROJECTION];
    struct linear_input in = layer_normed(t, core);
    size_t first, last, n = (size_t)params(t)->n_layers * params(t)->per_layer_dim;

    take_x(t, core, w);
    layer_step_shared(t, core);
    layer_multiply(t, core, w, t->segment + w->offset, w->rows, &in, a->per_layer,
                   a->per_layer_stride);
    layer_step(t, core);
    layer_share_tokens(t, core, &first, &last);
    for (size_t i = first; i < last; i++) {
        size_t at = i * a->per_layer_stride;

        for (size_t k = 0; k < n; k += params(t)->per_layer_dim) {
            combine(t, a->per_layer + at + k, a->rows_per_layer + at + k,
                    layer_vector(t, INGOT_PER_LAYER_NORM));
        }
    }
    layer_step(t, core);
}

/* Compute this core's rows of the gate, and multiply them by the layer's share of the
 * embeddings. */
static void gate(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    const struct ingot_tensor *w = t->tensors[INGOT_PER_LAYER_GATE];
    struct linear_input in = layer_normed(t, core);
    size_t stride = layer_stride(t, INGOT_PER_LAYER_OUT), first, last;

    layer_multiply(t, core, w, t->segment + w->offset, w->rows, &in, a->gate, stride);
    workers_share(t->workers, core, w->rows, ROW_STEP, &first, &last);
    for (uint32_t i = 0; i < t->n_tokens; i++) {
        float *g = a->gate + i * stride + first;
        const float *own = a->per_layer + i * a->per_layer_stride + t->layer * w->rows + first;

        t->kernels->gelu_mul_f32(g, g, own, last - first);
    }
}

/* Norm the result of this core's tokens and add it. */
static void add(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    size_t first, last;

    layer_share_tokens(t, core, &first, &last);
    for (size_t i = first; i < last; i++) {
        float *y = a->out + i * a->dim_stride;

        t->kernels->rmsnorm_f32(y, y, layer_vector(t, INGOT_PER_LAYER_POST_NORM), params(t)->dim,
                                params(t)->norm_eps, 0.0f);
        t->kernels->add_f32(a->x + i * a->dim_stride, y, params(t)->dim);
    }
}

bool layer_embedding_add(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    const struct ingot_tensor *out = t->tensors[INGOT_PER_LAYER_OUT];
    struct linear_input gated;

    if (!layer_wait_rest(t, core)) {
        return false;
    }
    take_x(t, core, t->tensors[INGOT_PER_LAYER_GATE]);
    layer_step_shared(t, core);
    gate(t, core);
    if (!layer_ready(t, core, INGOT_PER_LAYER_OUT, NULL, 0, a->gate, &gated)) {
        return false;
    }
    layer_multiply(t, core, out, t->segment + out->offset, out->rows, &gated, a->out,
                   a->dim_stride);
    layer_step(t, core);
    add(t, core);
    return true;
}
