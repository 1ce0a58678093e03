/* References of the matrix-vector kernels: y[r] = sum over c of W[r][c] x[c].
 *
 * A sum of floats depends on its order, so the order is part of the definition. */
#include "kernels/kernels.h"
#include "kernels/ref/dot.h"

/* 16 lanes: lane[i] = fma(w[c], x[c], lane[i]) for c = i, i + 16, i + 32, ..., then the lanes fold
 * 16 to 8 to 4 to 2 to 1. Sixteen lanes are four registers of NEON, two of AVX2, one of AVX-512:
 * so loops need no shuffles for this order at any vector length. */
void gemv_f32_f32_f32_ref(float *restrict y, const void *restrict w, const float *restrict x,
                          size_t rows, size_t cols, size_t ahead)
{
    const float *row = w;

    (void)ahead;
    assert(cols % 16 == 0);
    for (size_t r = 0; r < rows; r++, row += cols) {
        float lane[16] = { 0 };

        for (size_t c = 0; c < cols; c++) {
            lane[c % 16] = fmaf(row[c], x[c], lane[c % 16]);
        }
        y[r] = fold16(lane);
    }
}

/* The order of additions is the same. fp16 to f32 is exact, so only the fma rounds. */
void gemv_f32_f16_f32_ref(float *restrict y, const void *restrict w, const float *restrict x,
                          size_t rows, size_t cols, size_t ahead)
{
    const uint16_t *row = w;

    (void)ahead;
    assert(cols % 16 ==
           0); /* if there are several rows, cols % 32 == 0 (contract) keeps them aligned */
    for (size_t r = 0; r < rows; r++, row += cols) {
        float lane[16] = { 0 };

        for (size_t c = 0; c < cols; c++) {
            lane[c % 16] = fmaf(f32_from_f16(row[c]), x[c], lane[c % 16]);
        }
        y[r] = fold16(lane);
    }
}

/* W and x in blocks of integers q with scales: w[c] = sw qw[c], x[c] = sx qx[c], and
 *     sum_c w[c] x[c] = sw sx sum_c qw[c] qx[c].
 * The integer sum is exact in any order, so a kernel may use its widest multiplication. Floats are
 * added once per block:
 *     acc = fma((float)isum, sw * sx, acc), blocks ascending, from +0,
 * one accumulator per row (kernels/ref/dot.h). Row r is row r % 8 of group r / 8. */
#define GEMV_BLOCKS(name, layout, activations, add, block_cols) \
    void name(float *restrict y, const void *restrict w, const struct activations *restrict x, \
              size_t rows, size_t cols, size_t ahead) \
    { \
        size_t n_blocks = cols / (block_cols); \
\
        (void)ahead; \
        assert(cols % (block_cols) == 0); \
        for (size_t r = 0; r < rows; r++) { \
            const struct layout *block = (const struct layout *)w + r / 8 * n_blocks; \
\
            y[r] = 0.0f; \
            for (size_t b = 0; b < n_blocks; b++) { \
                y[r] = add(y[r], &block[b], &x[b], r % 8); \
            } \
        } \
    }

#define TYPE_WEIGHTS(NAME, id, name, layout, columns, act, ...) \
    GEMV_BLOCKS(gemv_f32_##layout##x8_##act##_ref, block_##layout##x8, block_##act, add_##layout, \
                columns)
#define TYPE_TABLED(...)
#include "flash_image/format/types.def"
