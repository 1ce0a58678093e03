/* References of quantization and its reverse, and of interleaving activations. */
#include "kernels/kernels.h"
#include "kernels/ref/dot.h"

#include <string.h>

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

/* x (n) to q (n) by the block's own scale, which is returned. */
static float quantize_block(int8_t *restrict q, const float *restrict x, size_t n)
{
    const float magic = 12582912.0f; /* adding it rounds to the nearest even integer */
    float max = 0.0f;
    float inverse = 0.0f;

    for (size_t i = 0; i < n; i++) {
        float a = fabsf(x[i]);

        max = a > max ? a : max;
    }
    if (max < 0x1p-100f) { /* 127 / max would overflow or lose the products' precision */
        max = 0.0f;
    } else {
        inverse = 127.0f / max;
    }
    for (size_t i = 0; i < n; i++) {
        q[i] = (int8_t)((x[i] * inverse + magic) - magic);
    }
    return max / 127.0f;
}

static int32_t sum_of(const int8_t *q, size_t n)
{
    int32_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        sum += q[i];
    }
    return sum;
}

void quantize_q8_f32_ref(struct block_q8 *restrict y, const float *restrict x, size_t n)
{
    assert(n % 32 == 0);
    for (size_t b = 0; b < n / 32; b++) {
        y[b].d = quantize_block(y[b].q, x + 32 * b, 32);
        y[b].sum = sum_of(y[b].q, 32);
    }
}

void quantize_q8k_f32_ref(struct block_q8k *restrict y, const float *restrict x, size_t n)
{
    assert(n % 256 == 0);
    for (size_t b = 0; b < n / 256; b++) {
        memset(&y[b], 0, sizeof y[b]);
        y[b].d = quantize_block(y[b].q, x + 256 * b, 256);
        for (size_t j = 0; j < 16; j++) {
            y[b].sum[j] = (int16_t)sum_of(y[b].q + 16 * j, 16);
        }
    }
}

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

            for (size_t c = 0; c < 32; c++) {
                to->q[c / 4][t % 4][c % 4] = from->q[c];
            }
            to->d[t % 4] = from->d;
            to->sum[t % 4] = from->sum;
        }
    }
}

void interleave_q8kx4_q8k_ref(struct block_q8kx4 *restrict y, const struct block_q8k *restrict x,
                              size_t n_tokens, size_t cols)
{
    size_t n_blocks = cols / 256;

    assert(cols % 256 == 0);
    for (size_t t = 0; t < (n_tokens + 3) / 4 * 4; t++) {
        for (size_t b = 0; b < n_blocks; b++) {
            static const struct block_q8k zero;
            struct block_q8kx4 *to = &y[t / 4 * n_blocks + b];
            const struct block_q8k *from = t < n_tokens ? &x[t * n_blocks + b] : &zero;

            for (size_t c = 0; c < 256; c++) {
                to->q[c / 4][t % 4][c % 4] = from->q[c];
            }
            for (size_t j = 0; j < 16; j++) {
                to->sum[j][t % 4] = from->sum[j];
            }
            to->d[t % 4] = from->d;
        }
    }
}
