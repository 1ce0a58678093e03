/* References of quantization and its reverse, and of interleaving activations.
 *
 * Dequantizing returns one row of W as floats, for embeddings and for comparisons of weights. */
#include "kernels/kernels.h"
#include "kernels/ref/dot.h"

#include <string.h>

/* Q8_0: y = d q. Column c is in block c / 32 of the row's group; the row is row r = row
 * % 8 of the group. Only the product is rounded, because d and q are exact in f32. */
void dequantize_f32_q8x8_ref(float *restrict y, const void *restrict w, size_t row, size_t cols)
{
    const struct block_q8x8 *block = (const struct block_q8x8 *)w + row / 8 * (cols / 32);
    size_t r = row % 8;

    assert(cols % 32 == 0);
    for (size_t c = 0; c < cols; c++) {
        const struct block_q8x8 *b = &block[c / 32];

        y[c] = f32_from_f16(b->d[r]) * (float)b->q[block_place(r, c % 32)];
    }
}

/* Q4_0: y = d (n - 8). Columns 0 to 15 of a block are low nibbles, columns 16 to 31 the high
 * nibbles of the same bytes. */
void dequantize_f32_q4x8_ref(float *restrict y, const void *restrict w, size_t row, size_t cols)
{
    const struct block_q4x8 *block = (const struct block_q4x8 *)w + row / 8 * (cols / 32);
    size_t r = row % 8;

    assert(cols % 32 == 0);
    for (size_t c = 0; c < cols; c++) {
        const struct block_q4x8 *b = &block[c / 32];
        uint8_t byte = b->q[block_place(r, c % 16)];
        int nibble = c % 32 < 16 ? byte & 15 : byte >> 4;

        y[c] = f32_from_f16(b->d[r]) * (float)(nibble - 8);
    }
}

/* Q4_1: y = d n + m, rounded once. */
void dequantize_f32_q41x8_ref(float *restrict y, const void *restrict w, size_t row, size_t cols)
{
    const struct block_q41x8 *block = (const struct block_q41x8 *)w + row / 8 * (cols / 32);
    size_t r = row % 8;

    assert(cols % 32 == 0);
    for (size_t c = 0; c < cols; c++) {
        const struct block_q41x8 *b = &block[c / 32];

        y[c] = fmaf((float)nibble_32(b->q, r, c % 32), f32_from_f16(b->d[r]),
                    f32_from_f16(b->m[r]));
    }
}

/* Q5_0: y = d (q - 16). */
void dequantize_f32_q50x8_ref(float *restrict y, const void *restrict w, size_t row, size_t cols)
{
    const struct block_q50x8 *block = (const struct block_q50x8 *)w + row / 8 * (cols / 32);
    size_t r = row % 8;

    assert(cols % 32 == 0);
    for (size_t c = 0; c < cols; c++) {
        const struct block_q50x8 *b = &block[c / 32];
        int32_t q = nibble_32(b->q, r, c % 32) | fifth_32(b->high, r, c % 32);

        y[c] = f32_from_f16(b->d[r]) * (float)(q - 16);
    }
}

/* Q5_1: as Q4_1. */
void dequantize_f32_q51x8_ref(float *restrict y, const void *restrict w, size_t row, size_t cols)
{
    const struct block_q51x8 *block = (const struct block_q51x8 *)w + row / 8 * (cols / 32);
    size_t r = row % 8;

    assert(cols % 32 == 0);
    for (size_t c = 0; c < cols; c++) {
        const struct block_q51x8 *b = &block[c / 32];
        int32_t q = nibble_32(b->q, r, c % 32) | fifth_32(b->high, r, c % 32);

        y[c] = fmaf((float)q, f32_from_f16(b->d[r]), f32_from_f16(b->m[r]));
    }
}

/* Q4_K: y = d (scale n) - dmin min. The product scale * n is an integer of at most 63 * 15, so it
 * is exact. The product dmin * min is rounded, then the fma rounds again. The contract fixes this
 * order, because another order gives other bits. */
void dequantize_f32_q4kx8_ref(float *restrict y, const void *restrict w, size_t row, size_t cols)
{
    const struct block_q4kx8 *block = (const struct block_q4kx8 *)w + row / 8 * (cols / 256);
    size_t r = row % 8;

    assert(cols % 256 == 0);
    for (size_t c = 0; c < cols; c++) {
        const struct block_q4kx8 *b = &block[c / 256];
        size_t j = c % 256 / 32;
        float product = (float)(scale_q4k(b, r, j) * nibble_k(b->q, r, c % 256));
        float min = f32_from_f16(b->dmin[r]) * (float)min_q4k(b, r, j);

        y[c] = fmaf(product, f32_from_f16(b->d[r]), -min);
    }
}

/* Q6_K: y = d (scale (q - 32)). The product in parentheses
 * is an integer of at most 2^12, so it is exact. */
void dequantize_f32_q6kx8_ref(float *restrict y, const void *restrict w, size_t row, size_t cols)
{
    const struct block_q6kx8 *block = (const struct block_q6kx8 *)w + row / 8 * (cols / 256);
    size_t r = row % 8;

    assert(cols % 256 == 0);
    for (size_t c = 0; c < cols; c++) {
        const struct block_q6kx8 *b = &block[c / 256];
        int32_t product = b->scales[c % 256 / 16][r] * value_q6k(b, r, c % 256);

        y[c] = (float)product * f32_from_f16(b->d[r]);
    }
}

/* Q5_K: as Q4_K. The product scale * q is at most 63 * 31. */
void dequantize_f32_q5kx8_ref(float *restrict y, const void *restrict w, size_t row, size_t cols)
{
    const struct block_q5kx8 *block = (const struct block_q5kx8 *)w + row / 8 * (cols / 256);
    size_t r = row % 8;

    assert(cols % 256 == 0);
    for (size_t c = 0; c < cols; c++) {
        const struct block_q5kx8 *b = &block[c / 256];
        size_t j = c % 256 / 32;
        float product = (float)(scale_q5k(b, r, j) * value_q5k(b, r, c % 256));
        float min = f32_from_f16(b->dmin[r]) * (float)min_q5k(b, r, j);

        y[c] = fmaf(product, f32_from_f16(b->d[r]), -min);
    }
}

/* Q3_K: as Q6_K. */
void dequantize_f32_q3kx8_ref(float *restrict y, const void *restrict w, size_t row, size_t cols)
{
    const struct block_q3kx8 *block = (const struct block_q3kx8 *)w + row / 8 * (cols / 256);
    size_t r = row % 8;

    assert(cols % 256 == 0);
    for (size_t c = 0; c < cols; c++) {
        const struct block_q3kx8 *b = &block[c / 256];
        int32_t product = b->scales[c % 256 / 16][r] * value_q3k(b, r, c % 256);

        y[c] = (float)product * f32_from_f16(b->d[r]);
    }
}

/* Q2_K: as Q4_K. */
void dequantize_f32_q2kx8_ref(float *restrict y, const void *restrict w, size_t row, size_t cols)
{
    const struct block_q2kx8 *block = (const struct block_q2kx8 *)w + row / 8 * (cols / 256);
    size_t r = row % 8;

    assert(cols % 256 == 0);
    for (size_t c = 0; c < cols; c++) {
        const struct block_q2kx8 *b = &block[c / 256];
        uint8_t scale = b->scales[c % 256 / 16][r];
        float product = (float)((scale & 15) * two_bits_k(b->q, r, c % 256));
        float min = f32_from_f16(b->dmin[r]) * (float)(scale >> 4);

        y[c] = fmaf(product, f32_from_f16(b->d[r]), -min);
    }
}

/* TQ2_0, Q2_0, Q1_0: y = d times a small integer; one rounding at most. */
void dequantize_f32_tq2x8_ref(float *restrict y, const void *restrict w, size_t row, size_t cols)
{
    const struct block_tq2x8 *block = (const struct block_tq2x8 *)w + row / 8 * (cols / 256);
    size_t r = row % 8;

    assert(cols % 256 == 0);
    for (size_t c = 0; c < cols; c++) {
        const struct block_tq2x8 *b = &block[c / 256];

        y[c] = f32_from_f16(b->d[r]) * (float)value_two(b->q, r, c % 256);
    }
}

void dequantize_f32_q2x8_ref(float *restrict y, const void *restrict w, size_t row, size_t cols)
{
    const struct block_q2x8 *block = (const struct block_q2x8 *)w + row / 8 * (cols / 256);
    size_t r = row % 8;

    assert(cols % 256 == 0);
    for (size_t c = 0; c < cols; c++) {
        const struct block_q2x8 *b = &block[c / 256];

        y[c] = f32_from_f16(b->d[c % 256 / 64][r]) * (float)value_two(b->q, r, c % 256);
    }
}

void dequantize_f32_q1x8_ref(float *restrict y, const void *restrict w, size_t row, size_t cols)
{
    const struct block_q1x8 *block = (const struct block_q1x8 *)w + row / 8 * (cols / 256);
    size_t r = row % 8;

    assert(cols % 256 == 0);
    for (size_t c = 0; c < cols; c++) {
        const struct block_q1x8 *b = &block[c / 256];

        y[c] = f32_from_f16(b->d[c % 256 / 128][r]) * (float)value_one(b->q, r, c % 256);
    }
}

/* Quantize x (n) to q (n) with the block's own scale d = max|x| / 127, which is returned: x ~ d q.
 *
 * q = x * (127 / max|x|) to the nearest integer, ties to even, with one division a block. Adding
 * 1.5 2^23 leaves the integer in the low bits of the float, in the rounding mode of the core, and
 * subtracting it is exact. No q is -128, so -q fits an int8.
 *
 * If max|x| is below 2^-100, the block counts as zero, with d = 0: otherwise
 * 127 / max|x| could overflow, and products would lose bits as subnormals. */
static float quantize_block(int8_t *restrict q, const float *restrict x, size_t n)
{
    const float magic = 12582912.0f;
    float max = 0.0f;
    float inverse = 0.0f;

    /* The largest magnitude; a NaN is never larger. */
    for (size_t i = 0; i < n; i++) {
        if (fabsf(x[i]) > max) {
            max = fabsf(x[i]);
        }
    }
    if (max < 0x1p-100f) {
        max = 0.0f;
    } else {
        inverse = 127.0f / max;
    }
    /* The two operations round twice: the product to a float, and the sum to an integer. An fma
     * would round only once, and give other bits at ties. */
    for (size_t i = 0; i < n; i++) {
        q[i] = (int8_t)((x[i] * inverse + magic) - magic);
    }
    return max / 127.0f;
}

/* A format with a bias or a min also needs the sum of the quants, sum_c q (kernels/ref/dot.h). */
static int32_t sum_of(const int8_t *q, size_t n)
{
    int32_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        sum += q[i];
    }
    return sum;
}

/* Quantize x (n) to n / 32 blocks, each with the sum of its q. */
void quantize_q8_f32_ref(struct block_q8 *restrict y, const float *restrict x, size_t n)
{
    assert(n % 32 == 0);
    for (size_t b = 0; b < n / 32; b++) {
        y[b].d = quantize_block(y[b].q, x + 32 * b, 32);
        y[b].sum = sum_of(y[b].q, 32);
    }
}

/* Quantize x (n) to n / 256 blocks, each with 16 sums of 16 q: Q4_K has a min for every 32
 * columns, Q6_K a scale for every 16. A sum is at most 16 * 127, so it fits an int16. */
void quantize_q8k_f32_ref(struct block_q8k *restrict y, const float *restrict x, size_t n)
{
    assert(n % 256 == 0);
    for (size_t b = 0; b < n / 256; b++) {
        memset(&y[b], 0, sizeof y[b]); /* also clear reserved[], so that equal x give equal bytes */
        y[b].d = quantize_block(y[b].q, x + 256 * b, 256);
        for (size_t j = 0; j < 16; j++) {
            y[b].sum[j] = (int16_t)sum_of(y[b].q + 16 * j, 16);
        }
    }
}

/* Token t goes to lane t % 4 of group t / 4: column c of it to [c / 4][t % 4][c % 4]. Lanes of
 * the last group that have no token become zeros, whose products add nothing and never trap. */
void interleave_q8x4_q8_ref(struct block_q8x4 *restrict y, const struct block_q8 *restrict x,
                            size_t n_tokens, size_t cols)
{
    size_t n_blocks = cols / 32;

    assert(cols % 32 == 0);
    for (size_t t = 0; t < (n_tokens + 3) / 4 * 4; t++) {
        for (size_t b = 0; b < n_blocks; b++) {
            static const struct block_q8 zero;
            struct block_q8x4 *to = &y[t / 4 * n_blocks + b];
            const struct block_q8 *from = t < n_tokens ? &x[t * n_blocks + b] : &zero;

            /* Four columns of a token are one lane's
             * operand of a dot product (sdot, vpdpbusd). */
            for (size_t c = 0; c < 32; c++) {
                to->q[c / 4][t % 4][c % 4] = from->q[c];
            }
            to->d[t % 4] = from->d;
            to->sum[t % 4] = from->sum;
        }
    }
}

/* As interleave_q8x4_q8_ref, for blocks of 256, whose sums are interleaved, too: [j][t % 4]. */
void interleave_q8kx4_q8k_ref(struct block_q8kx4 *restrict y, const struct block_q8k *restrict x,
                              size_t n_tokens, size_t cols)
{
    size_t n_blocks = cols / 256;

    assert(cols % 256 == 0);
    for (size_t t = 0; t < (n_tokens + 3) / 4 * 4; t++) {
        for (size_t b = 0; b < n_blocks; b++) {
            /* If this lane of the group has no token, clear it. */
            static const struct block_q8k zero;
            struct block_q8kx4 *to = &y[t / 4 * n_blocks + b];
            const struct block_q8k *from = t < n_tokens ? &x[t * n_blocks + b] : &zero;

            for (size_t c = 0; c < 256; c++) {
                to->q[c / 4][t % 4][c % 4] = from->q[c];
            }
            /* Store the four tokens' sums of 16 columns next to each other. */
            for (size_t j = 0; j < 16; j++) {
                to->sum[j][t % 4] = from->sum[j];
            }
            to->d[t % 4] = from->d;
        }
    }
}
