#include "runtime/model/rotations.h"

#include "runtime/compute/rope_table.h"
#include "runtime/model/layer.h"

/* The rotation of the queries includes the scale of the scores. All layers with this rotation
 * have the same scale. */
static float scale_of(const struct transformer *t, uint32_t rope)
{
    uint32_t layer = 0;

    while (layer + 1 < params(t)->n_layers && image_layer(t->image, layer)->rope != rope) {
        layer++;
    }
    return image_layer(t->image, layer)->attn_scale;
}

/* All keys of a sequence have the same factors, whatever their positions. Return NULL if all
 * factors are 1. */
static const float *factors_of(const struct transformer *t, const struct ingot_rope *rope,
                               bool is_long)
{
    uint32_t first = rope->factors;

    if (is_long && rope->long_context != 0) {
        first = rope->long_factors;
    }
    if (first == INGOT_NO_FACTORS) {
        return NULL;
    }
    return t->image->factors + first;
}

void transformer_rope_row(const struct transformer *t, uint32_t number, uint32_t position,
                          bool is_long, float *row)
{
    const struct ingot_rope *rope = &t->image->header->ropes[number];

    rope_table_row(row, position, rope->dims, rope->base, factors_of(t, rope, is_long));
}

static void make_rope_table(const struct transformer *t, uint32_t number)
{
    const struct ingot_rope *rope = &t->image->header->ropes[number];
    float *table = t->act.cos_sin[number];
    size_t stride = params(t)->head_dim;
    size_t n = t->n_tokens * stride;

    for (uint32_t i = 0; i < t->n_tokens; i++) {
        transformer_rope_row(t, number, layer_position(t, i), layer_part(t, i)->is_long,
                             table + i * stride);
    }
    if (rope->magnitude != 1.0f) {
        t->kernels->scale_f32(table, table, n, rope->magnitude);
    }
    t->kernels->scale_f32(t->act.cos_sin_query[number], table, n, scale_of(t, number));
}

void rotations_make(const struct transformer *t)
{
    for (uint32_t i = 0; i < params(t)->n_ropes; i++) {
        make_rope_table(t, i);
    }
}
