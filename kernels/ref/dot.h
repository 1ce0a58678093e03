/* The integer dot product of one row of each weight format: what gemv and gemm have in common. */
#ifndef INGOT_KERNELS_REF_DOT_H
#define INGOT_KERNELS_REF_DOT_H

#include "kernels/blocks.h"
#include "kernels/ref/scalar.h"

/* Column c (< 256) of row r of 4-bit values laid out as in the K formats. */
static inline int32_t nibble_k(const uint8_t *q, size_t r, size_t c)
{
    uint8_t byte = q[c / 64 * 256 + block_place(r, c % 32)];

    return c % 64 < 32 ? byte & 15 : byte >> 4;
}

static inline int32_t scale_q4k(const struct block_q4kx8 *w, size_t r, size_t j)
{
    return w->scales[j][r] & 63;
}

static inline int32_t min_q4k(const struct block_q4kx8 *w, size_t r, size_t j)
{
    int32_t high = j < 4 ? w->mins[j % 4][r] & 15 : w->mins[j % 4][r] >> 4;

    return w->scales[j][r] >> 6 | high << 2;
}

/* -32 .. 31 */
static inline int32_t value_q6k(const struct block_q6kx8 *w, size_t r, size_t c)
{
    uint8_t high = w->high[c / 128 * 256 + block_place(r, c % 32)];

    return (nibble_k(w->low, r, c) | (high >> (c / 32 % 4 * 2) & 3) << 4) - 32;
}

/* The accumulator of row r of a group after this block. */
static inline float add_q8(float acc, const struct block_q8x8 *w, const struct block_q8 *x,
                           size_t r)
{
    int32_t sum = 0;

    for (size_t c = 0; c < 32; c++) {
        sum += w->q[block_place(r, c)] * x->q[c];
    }
    return fmaf((float)sum, f32_from_f16(w->d[r]) * x->d, acc);
}

static inline float add_q4(float acc, const struct block_q4x8 *w, const struct block_q8 *x,
                           size_t r)
{
    int32_t sum = -8 * x->sum;

    for (size_t c = 0; c < 16; c++) {
        uint8_t byte = w->q[block_place(r, c)];

        sum += (byte & 15) * x->q[c] + (byte >> 4) * x->q[c + 16];
    }
    return fmaf((float)sum, f32_from_f16(w->d[r]) * x->d, acc);
}

static inline float add_q4k(float acc, const struct block_q4kx8 *w, const struct block_q8k *x,
                            size_t r)
{
    int32_t sum = 0;
    int32_t min = 0;

    for (size_t j = 0; j < 8; j++) {
        int32_t dot = 0;

        for (size_t c = 32 * j; c < 32 * j + 32; c++) {
            dot += nibble_k(w->q, r, c) * x->q[c];
        }
        sum += scale_q4k(w, r, j) * dot;
        min += min_q4k(w, r, j) * (x->sum[2 * j] + x->sum[2 * j + 1]);
    }
    acc = fmaf((float)sum, f32_from_f16(w->d[r]) * x->d, acc);
    return fmaf(-(float)min, f32_from_f16(w->dmin[r]) * x->d, acc);
}

static inline float add_q6k(float acc, const struct block_q6kx8 *w, const struct block_q8k *x,
                            size_t r)
{
    int32_t sum = 0;

    for (size_t j = 0; j < 16; j++) {
        int32_t dot = 0;

        for (size_t c = 16 * j; c < 16 * j + 16; c++) {
            dot += value_q6k(w, r, c) * x->q[c];
        }
        sum += w->scales[j][r] * dot;
    }
    return fmaf((float)sum, f32_from_f16(w->d[r]) * x->d, acc);
}

#endif
