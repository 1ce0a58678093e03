/* References of the matrix kernels. The layouts are flash_image/format.h's ingot_q8x8 and
 * ingot_q4x8; they are spelled out again here because kernels/ depends on nothing. */
#include "kernels/kernels.h"
#include "kernels/ref/scalar.h"

struct q8x8 {
    uint16_t d[8];
    int8_t q[256];
};

struct q4x8 {
    uint16_t d[8];
    uint8_t q[128];
};

/* Byte of row r, column c inside a group. */
static size_t interleaved(size_t r, size_t c)
{
    return c / 4 * 32 + r * 4 + c % 4;
}

void gemv_f32_f32_f32_ref(float *restrict y, const void *restrict w, const float *restrict x,
                          size_t rows, size_t cols)
{
    const float *row = w;

    assert(cols % 16 == 0);
    for (size_t r = 0; r < rows; r++, row += cols) {
        float lane[16] = { 0 };

        for (size_t c = 0; c < cols; c += 16) {
            for (size_t i = 0; i < 16; i++) {
                lane[i] = fmaf(row[c + i], x[c + i], lane[i]);
            }
        }
        y[r] = fold16(lane);
    }
}

static int32_t dot_q8(const struct q8x8 *w, const struct block_q8 *x, size_t r)
{
    int32_t sum = 0;

    for (size_t c = 0; c < 32; c++) {
        sum += w->q[interleaved(r, c)] * x->q[c];
    }
    return sum;
}

static int32_t dot_q4(const struct q4x8 *w, const struct block_q8 *x, size_t r)
{
    int32_t sum = -8 * x->sum;

    for (size_t c = 0; c < 16; c++) {
        uint8_t byte = w->q[interleaved(r, c)];

        sum += (byte & 15) * x->q[c] + (byte >> 4) * x->q[c + 16];
    }
    return sum;
}

void gemv_f32_q8x8_q8_ref(float *restrict y, const void *restrict w,
                          const struct block_q8 *restrict x, size_t rows, size_t cols)
{
    const struct q8x8 *group = w;
    size_t n_blocks = cols / 32;

    assert(cols % 32 == 0);
    for (size_t r = 0; r < rows; r++) {
        const struct q8x8 *block = group + r / 8 * n_blocks;
        float acc = 0.0f;

        for (size_t b = 0; b < n_blocks; b++) {
            float scale = f32_from_f16(block[b].d[r % 8]) * x[b].d;

            acc = fmaf((float)dot_q8(&block[b], &x[b], r % 8), scale, acc);
        }
        y[r] = acc;
    }
}

void gemv_f32_q4x8_q8_ref(float *restrict y, const void *restrict w,
                          const struct block_q8 *restrict x, size_t rows, size_t cols)
{
    const struct q4x8 *group = w;
    size_t n_blocks = cols / 32;

    assert(cols % 32 == 0);
    for (size_t r = 0; r < rows; r++) {
        const struct q4x8 *block = group + r / 8 * n_blocks;
        float acc = 0.0f;

        for (size_t b = 0; b < n_blocks; b++) {
            float scale = f32_from_f16(block[b].d[r % 8]) * x[b].d;

            acc = fmaf((float)dot_q4(&block[b], &x[b], r % 8), scale, acc);
        }
        y[r] = acc;
    }
}

void dequantize_f32_q8x8_ref(float *restrict y, const void *restrict w, size_t row, size_t cols)
{
    const struct q8x8 *block = (const struct q8x8 *)w + row / 8 * (cols / 32);
    size_t r = row % 8;

    assert(cols % 32 == 0);
    for (size_t c = 0; c < cols; c++) {
        const struct q8x8 *b = &block[c / 32];

        y[c] = f32_from_f16(b->d[r]) * (float)b->q[interleaved(r, c % 32)];
    }
}

void dequantize_f32_q4x8_ref(float *restrict y, const void *restrict w, size_t row, size_t cols)
{
    const struct q4x8 *block = (const struct q4x8 *)w + row / 8 * (cols / 32);
    size_t r = row % 8;

    assert(cols % 32 == 0);
    for (size_t c = 0; c < cols; c++) {
        const struct q4x8 *b = &block[c / 32];
        uint8_t byte = b->q[interleaved(r, c % 16)];
        int nibble = c % 32 < 16 ? byte & 15 : byte >> 4;

        y[c] = f32_from_f16(b->d[r]) * (float)(nibble - 8);
    }
}

void quantize_q8_f32_ref(struct block_q8 *restrict y, const float *restrict x, size_t n)
{
    const float magic = 12582912.0f; /* adding it rounds to the nearest even integer */

    assert(n % 32 == 0);
    for (size_t b = 0; b < n / 32; b++) {
        const float *in = x + 32 * b;
        float max = 0.0f;
        float inverse = 0.0f;
        int32_t sum = 0;

        for (size_t i = 0; i < 32; i++) {
            float a = fabsf(in[i]);

            max = a > max ? a : max;
        }
        if (max < 0x1p-100f) { /* 127 / max would overflow or lose the products' precision */
            max = 0.0f;
        } else {
            inverse = 127.0f / max;
        }
        for (size_t i = 0; i < 32; i++) {
            int32_t q = (int32_t)((in[i] * inverse + magic) - magic);

            y[b].q[i] = (int8_t)q;
            sum += q;
        }
        y[b].d = max / 127.0f;
        y[b].sum = sum;
    }
}
