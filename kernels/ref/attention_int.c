/* References of integer attention over one tile: keys of four bits times
 * queries of int8, and values of four or eight bits times weights of int8.
 * quantize_q8_f32 rounds (softmax weight * scale of the value) to int8,
 * 32 positions at a time, so values are never converted to floats. */
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/ref/scalar.h"

static inline int32_t low_half(uint8_t byte)
{
    return ((byte & 15) ^ 8) - 8;
}

static inline int32_t high_half(uint8_t byte)
{
    return ((byte >> 4) ^ 8) - 8;
}

/* Multiply four numbers of x by the four nibbles of two bytes. */
static inline int32_t dot_halves(const int8_t *x, const uint8_t *bytes)
{
    return x[0] * low_half(bytes[0]) + x[1] * low_half(bytes[1]) + x[2] * high_half(bytes[0]) +
           x[3] * high_half(bytes[1]);
}

/* s_j = fma((float)isum scale_j, q.d, s_j) over a block of 32 dimensions. */
static void score_block(float *s, const struct block_q8 *q, const uint16_t *scale,
                        const uint8_t *keys, size_t n)
{
    for (size_t j = 0; j < n; j++, keys += 2) {
        int32_t sum = 0;

        for (size_t g = 0; g < 8; g++) {
            sum += dot_halves(q->q + 4 * g, keys + g * 2 * KV_TILE);
        }
        s[j] = fmaf((float)sum * f32_from_bf16(scale[j]), q->d, s[j]);
    }
}

void score_f32_q4_ref(struct score_row *restrict s, const struct block_q8 *restrict q,
                      const void *restrict k, size_t n_q, size_t n, size_t d)
{
    const uint16_t *scale = k;
    const uint8_t *keys = (const uint8_t *)(scale + d / 32 * KV_TILE);

    assert(n % 16 == 0 && n <= KV_TILE && d % 32 == 0);
    for (size_t a = 0; a < n_q; a++) {
        memset(s[a].s, 0, n * sizeof s[a].s[0]);
        for (size_t b = 0; b < d / 32; b++, q++) {
            score_block(s[a].s, q, scale + b * KV_TILE, keys + b * 16 * KV_TILE, n);
        }
    }
}

void accumulate_f32_q8_q8_ref(float *restrict o, const struct score_row *restrict s,
                              const struct block_q8 *restrict w, const void *restrict v, size_t n_q,
                              size_t d)
{
    size_t block = kv_values_block(d);

    assert(d % 32 == 0);
    for (size_t at = 0; at < n_q * d; at++) {
        const struct block_q8 *half = w + at / block * 2;
        const int8_t *values = v;

        values += at % d / block * block * KV_TILE + at % block * 4;
        o[at] *= s[at / d].factor;
        for (size_t h = 0; h < 2; h++, half++) {
            int32_t sum = 0;

            for (size_t g = 0; g < 8; g++, values += 4 * block) {
                const int8_t *q = half->q + 4 * g;

                sum += q[0] * values[0] + q[1] * values[1] + q[2] * values[2] + q[3] * values[3];
            }
            o[at] = fmaf((float)sum, half->d, o[at]);
        }
    }
}

void accumulate_f32_q4_q8_ref(float *restrict o, const struct score_row *restrict s,
                              const struct block_q8 *restrict w, const void *restrict v, size_t n_q,
                              size_t d)
{
    size_t block = kv_values_block(d);

    assert(d % 32 == 0);
    for (size_t at = 0; at < n_q * d; at++) {
        const struct block_q8 *half = w + at / block * 2;
        const uint8_t *values = v;

        values += at % d / block * block * KV_TILE / 2 + at % block * 2;
        o[at] *= s[at / d].factor;
        for (size_t h = 0; h < 2; h++, half++) {
            int32_t sum = 0;

            for (size_t g = 0; g < 8; g++) {
                sum += dot_halves(half->q + 4 * g, values + (8 * h + g) * 2 * block);
            }
            o[at] = fmaf((float)sum, half->d, o[at]);
        }
    }
}
