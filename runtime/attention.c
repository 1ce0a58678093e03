#include "runtime/attention.h"

#include <math.h>

#include "runtime/activations.h"

struct online {
    float max; /* of the scores so far */
    float sum; /* of exp(score - max) */
};

/* exp by the kernel, so that the factor has the same bits on every ISA. */
static float rescale_factor(const struct kernels *k, float old_max, float new_max)
{
    float x = old_max;

    return k->exp_sum_f32(&x, 1, new_max);
}

static void attend_tile(const struct kernels *k, struct online *state, float *out,
                        float *scores, const uint16_t *values, uint32_t n, uint32_t d)
{
    float tile_max = k->max_f32(scores, n);
    float max = tile_max > state->max ? tile_max : state->max;
    float factor = rescale_factor(k, state->max, max);
    float sum = k->exp_sum_f32(scores, n, max);

    state->sum = fmaf(factor, state->sum, sum);
    state->max = max;
    for (uint32_t i = 0; i < d; i++) {
        out[i] *= factor;
    }
    k->accumulate_f32_f16(out, scores, values, n, d);
}

void attention_head(const struct kernels *k, float *out, const float *q, const uint16_t *keys,
                    const uint16_t *values, uint32_t n, uint32_t d, float *scores)
{
    struct online state = { -INFINITY, 0.0f };
    float scale = 1.0f / sqrtf((float)d);

    for (uint32_t i = 0; i < d; i++) {
        out[i] = 0.0f;
    }
    for (uint32_t at = 0; at < n; at += ATTENTION_TILE) {
        uint32_t m = n - at < ATTENTION_TILE ? n - at : ATTENTION_TILE;

        k->score_f32_f16(scores, q, keys + (size_t)at * d, m, d, scale);
        attend_tile(k, &state, out, scores, values + (size_t)at * d, m, d);
    }
    for (uint32_t i = 0; i < d; i++) {
        out[i] = out[i] / state.sum;
    }
}
