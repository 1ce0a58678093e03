/* The product of one block of a row and one block of x, for each weight format, for gemv and gemm.
 * kernels/blocks.h says where a value is stored. All sums are sums of integers below 2^31. */
#ifndef INGOT_KERNELS_REF_DOT_H
#define INGOT_KERNELS_REF_DOT_H

#include "kernels/blocks.h"
#include "kernels/ref/scalar.h"

/* Return the 4-bit value of row r, column c (< 256), in the layout of the K formats. */
static inline int32_t nibble_k(const uint8_t *q, size_t r, size_t c)
{
    uint8_t byte = q[c / 64 * 256 + block_place(r, c % 32)];

    return c % 64 < 32 ? byte & 15 : byte >> 4;
}

/* Return the 2-bit value (a byte has four, for columns 32 apart) or the bit (a byte has eight) of
 * row r, column c. */
static inline int32_t two_bits_k(const uint8_t *q, size_t r, size_t c)
{
    return q[c / 128 * 256 + block_place(r, c % 32)] >> (c / 32 % 4 * 2) & 3;
}

static inline int32_t bit_k(const uint8_t *q, size_t r, size_t c)
{
    return q[block_place(r, c % 32)] >> (c / 32) & 1;
}

/* Return the 6-bit scale of sub-block j. */
static inline int32_t scale_q4k(const struct block_q4kx8 *w, size_t r, size_t j)
{
    return w->scales[j][r] & 63;
}

/* Return the 6-bit min of sub-block j: 2 bits next to the scale, 4 bits in a nibble of a byte that
 * sub-blocks j and j + 4 share. */
static inline int32_t min_q4k(const struct block_q4kx8 *w, size_t r, size_t j)
{
    int32_t high = j < 4 ? w->mins[j % 4][r] & 15 : w->mins[j % 4][r] >> 4;

    return w->scales[j][r] >> 6 | high << 2;
}

/* q - 32, from 4 low and 2 high bits: -32 to 31. */
static inline int32_t value_q6k(const struct block_q6kx8 *w, size_t r, size_t c)
{
    return (nibble_k(w->low, r, c) | two_bits_k(w->high, r, c) << 4) - 32;
}

/* Scale and min of Q5_K are stored as in Q4_K. */
static inline int32_t scale_q5k(const struct block_q5kx8 *w, size_t r, size_t j)
{
    return w->scales[j][r] & 63;
}

static inline int32_t min_q5k(const struct block_q5kx8 *w, size_t r, size_t j)
{
    int32_t high = j < 4 ? w->mins[j % 4][r] & 15 : w->mins[j % 4][r] >> 4;

    return w->scales[j][r] >> 6 | high << 2;
}

/* q of Q5_K: 0 to 31. */
static inline int32_t value_q5k(const struct block_q5kx8 *w, size_t r, size_t c)
{
    return nibble_k(w->q, r, c) | bit_k(w->high, r, c) << 4;
}

/* q of Q3_K: -4 to 3. */
static inline int32_t value_q3k(const struct block_q3kx8 *w, size_t r, size_t c)
{
    return two_bits_k(w->low, r, c) - 4 * bit_k(w->high, r, c);
}

/* Q8_0: isum = sum_c w.q x.q, at most 32 * 128 * 128 = 2^19, so that (float)isum is exact.
 * This function and the following ones return the accumulator of row r after this block. */
static inline float add_q8(float acc, const struct block_q8x8 *w, const struct block_q8 *x,
                           size_t r)
{
    int32_t sum = 0;

    for (size_t c = 0; c < 32; c++) {
        sum += w->q[block_place(r, c)] * x->q[c];
    }
    return fmaf((float)sum, f32_from_f16(w->d[r]) * x->d, acc);
}

/* Q4_0: w = d (n - 8) with nibbles n of 0 to 15, and sum_c (n - 8) x = sum_c n x - 8 sum_c x.
 * So nibbles stay unsigned, and 8 times the sum of x, which quantize stored, is subtracted
 * once. */
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

/* Return column c (< 32) of row r: the nibble, laid out as in Q4_0; the second function returns the
 * fifth bit of Q5_0 and Q5_1. */
static inline int32_t nibble_32(const uint8_t *q, size_t r, size_t c)
{
    uint8_t byte = q[block_place(r, c % 16)];

    return c < 16 ? byte & 15 : byte >> 4;
}

static inline int32_t fifth_32(const uint8_t *high, size_t r, size_t c)
{
    return (high[block_place(r, c % 4)] >> (c / 4) & 1) << 4;
}

/* Q4_1: w = d n + m, so sum_c w x = d sx sum_c n x + m sx sum_c x. The first
 * sum is at most 32 * 15 * 128 < 2^16, the second at most 2^12: both are exact
 * as floats. The products are added to the accumulator first, then the minimum
 * times (the sum of x as a float times the scale of x, rounded once). */
static inline float add_with_min(float acc, int32_t sum, uint16_t d, uint16_t m,
                                 const struct block_q8 *x)
{
    acc = fmaf((float)sum, f32_from_f16(d) * x->d, acc);
    return fmaf(f32_from_f16(m), (float)x->sum * x->d, acc);
}

static inline float add_q41(float acc, const struct block_q41x8 *w, const struct block_q8 *x,
                            size_t r)
{
    int32_t sum = 0;

    for (size_t c = 0; c < 32; c++) {
        sum += nibble_32(w->q, r, c) * x->q[c];
    }
    return add_with_min(acc, sum, w->d[r], w->m[r], x);
}

/* Q5_0: as Q4_0, with q of 0 to 31 and a bias of 16. */
static inline float add_q50(float acc, const struct block_q50x8 *w, const struct block_q8 *x,
                            size_t r)
{
    int32_t sum = -16 * x->sum;

    for (size_t c = 0; c < 32; c++) {
        sum += (nibble_32(w->q, r, c) | fifth_32(w->high, r, c)) * x->q[c];
    }
    return fmaf((float)sum, f32_from_f16(w->d[r]) * x->d, acc);
}

/* Q5_1: as Q4_1, with q of 0 to 31. */
static inline float add_q51(float acc, const struct block_q51x8 *w, const struct block_q8 *x,
                            size_t r)
{
    int32_t sum = 0;

    for (size_t c = 0; c < 32; c++) {
        sum += (nibble_32(w->q, r, c) | fifth_32(w->high, r, c)) * x->q[c];
    }
    return add_with_min(acc, sum, w->d[r], w->m[r], x);
}

/* Q4_K: w = d scale_j n - dmin min_j in sub-block j of 32 columns, so
 *     sum_c w x = d sx sum_j scale_j (sum_c n x) - dmin sx sum_j min_j (sum_c x).
 * Both sums over j are integers: the first is at most 8 * 63 * 32 * 15 * 128 < 2^25, the second
 * at most 2^21. (float)sum may round, to nearest even on every ISA. The products are added to the
 * accumulator first, then the mins. Each x->sum covers 16 columns, half a sub-block. */
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

/* Q6_K: w = d scale_j (q - 32) in sub-block j of 16 columns, scale_j of -128 to 127.
 * value_q6k subtracts the bias. isum is at most 16 * 128 * 16 * 32 * 128 = 2^27. */
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

/* Q5_K: as Q4_K, with q of 0 to 31: the first sum is at most 8 * 63 * 32 * 31 * 128 < 2^26. */
static inline float add_q5k(float acc, const struct block_q5kx8 *w, const struct block_q8k *x,
                            size_t r)
{
    int32_t sum = 0;
    int32_t min = 0;

    for (size_t j = 0; j < 8; j++) {
        int32_t dot = 0;

        for (size_t c = 32 * j; c < 32 * j + 32; c++) {
            dot += value_q5k(w, r, c) * x->q[c];
        }
        sum += scale_q5k(w, r, j) * dot;
        min += min_q5k(w, r, j) * (x->sum[2 * j] + x->sum[2 * j + 1]);
    }
    acc = fmaf((float)sum, f32_from_f16(w->d[r]) * x->d, acc);
    return fmaf(-(float)min, f32_from_f16(w->dmin[r]) * x->d, acc);
}

/* Q3_K: as Q6_K, with q of -4 to 3 and any int8 as scale: at most 16 * 128 * 16 * 4 * 128 = 2^24. */
static inline float add_q3k(float acc, const struct block_q3kx8 *w, const struct block_q8k *x,
                            size_t r)
{
    int32_t sum = 0;

    for (size_t j = 0; j < 16; j++) {
        int32_t dot = 0;

        for (size_t c = 16 * j; c < 16 * j + 16; c++) {
            dot += value_q3k(w, r, c) * x->q[c];
        }
        sum += w->scales[j][r] * dot;
    }
    return fmaf((float)sum, f32_from_f16(w->d[r]) * x->d, acc);
}

/* Q2_K: as Q4_K, with sub-blocks of 16 columns, and with nibbles for scale and min. */
static inline float add_q2k(float acc, const struct block_q2kx8 *w, const struct block_q8k *x,
                            size_t r)
{
    int32_t sum = 0;
    int32_t min = 0;

    for (size_t j = 0; j < 16; j++) {
        int32_t dot = 0;

        for (size_t c = 16 * j; c < 16 * j + 16; c++) {
            dot += two_bits_k(w->q, r, c) * x->q[c];
        }
        sum += (w->scales[j][r] & 15) * dot;
        min += (w->scales[j][r] >> 4) * x->sum[j];
    }
    acc = fmaf((float)sum, f32_from_f16(w->d[r]) * x->d, acc);
    return fmaf(-(float)min, f32_from_f16(w->dmin[r]) * x->d, acc);
}

/* Return column c (< 256) of row r: in TQ2_0 and Q2_0 it is from -1 to 2; the second function is
 * for Q1_0, where it is -1 or 1. */
static inline int32_t value_two(const uint8_t *q, size_t r, size_t c)
{
    return (q[block_place(r, c % 64)] >> (c / 64 * 2) & 3) - 1;
}

static inline int32_t value_one(const uint8_t *q, size_t r, size_t c)
{
    return (q[block_place(r, c % 32)] >> (c / 32) & 1) * 2 - 1;
}

/* TQ2_0: isum = sum_c (two - 1) x.q, at most 256 * 2 * 128 = 2^16. A kernel may use q without the
 * -1, and subtract the sums of x at the end. */
static inline float add_tq2(float acc, const struct block_tq2x8 *w, const struct block_q8k *x,
                            size_t r)
{
    int32_t sum = 0;

    for (size_t c = 0; c < 256; c++) {
        sum += value_two(w->q, r, c) * x->q[c];
    }
    return fmaf((float)sum, f32_from_f16(w->d[r]) * x->d, acc);
}

/* Q2_0: as TQ2_0, but each 64 columns, in ascending order, have their own scale. */
static inline float add_q2(float acc, const struct block_q2x8 *w, const struct block_q8k *x,
                           size_t r)
{
    for (size_t j = 0; j < 4; j++) {
        int32_t sum = 0;

        for (size_t c = 64 * j; c < 64 * j + 64; c++) {
            sum += value_two(w->q, r, c) * x->q[c];
        }
        acc = fmaf((float)sum, f32_from_f16(w->d[j][r]) * x->d, acc);
    }
    return acc;
}

/* Q1_0: for each 128 columns, sum_c (2 bit - 1) x.q. */
static inline float add_q1(float acc, const struct block_q1x8 *w, const struct block_q8k *x,
                           size_t r)
{
    for (size_t j = 0; j < 2; j++) {
        int32_t sum = 0;

        for (size_t c = 128 * j; c < 128 * j + 128; c++) {
            sum += value_one(w->q, r, c) * x->q[c];
        }
        acc = fmaf((float)sum, f32_from_f16(w->d[j][r]) * x->d, acc);
    }
    return acc;
}

/* Extract token t (0 to 3) from a group of four, in the form that a gemv takes. The group has 4
 * columns of token 0, 4 of token 1 and so on: one load feeds four products. */
static inline struct block_q8 token_q8(const struct block_q8x4 *x, size_t t)
{
    struct block_q8 token = { .d = x->d[t], .sum = x->sum[t] };

    for (size_t c = 0; c < 32; c++) {
        token.q[c] = x->q[c / 4][t][c % 4];
    }
    return token;
}

/* Extract token t from a group of four K blocks, like token_q8. The group stores columns as [column
 * / 4][token][column % 4] and sums as [column / 16][token]. */
static inline struct block_q8k token_q8k(const struct block_q8kx4 *x, size_t t)
{
    struct block_q8k token = { .d = x->d[t] };

    for (size_t c = 0; c < 256; c++) {
        token.q[c] = x->q[c / 4][t][c % 4];
    }
    for (size_t j = 0; j < 16; j++) {
        token.sum[j] = x->sum[j][t];
    }
    return token;
}

#endif
