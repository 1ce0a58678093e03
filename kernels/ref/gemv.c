/* References of the matrix-vector kernels. */
#include "kernels/kernels.h"
#include "kernels/ref/dot.h"

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

void gemv_f32_f16_f32_ref(float *restrict y, const void *restrict w, const float *restrict x,
                          size_t rows, size_t cols, size_t ahead)
{
    const uint16_t *row = w;

    (void)ahead;
    assert(cols % 16 == 0); /* of more rows than one the contract's 32 keep the alignment */
    for (size_t r = 0; r < rows; r++, row += cols) {
        float lane[16] = { 0 };

        for (size_t c = 0; c < cols; c++) {
            lane[c % 16] = fmaf(f32_from_f16(row[c]), x[c], lane[c % 16]);
        }
        y[r] = fold16(lane);
    }
}

/* Row r of each block of its group, blocks ascending. */
#define GEMV_BLOCKS(name, layout, activations, add, block_cols)                                \
    void name(float *restrict y, const void *restrict w, const struct activations *restrict x, \
              size_t rows, size_t cols, size_t ahead)                                          \
    {                                                                                          \
        size_t n_blocks = cols / (block_cols);                                                 \
                                                                                               \
        (void)ahead;                                                                           \
        assert(cols % (block_cols) == 0);                                                      \
        for (size_t r = 0; r < rows; r++) {                                                    \
            const struct layout *block = (const struct layout *)w + r / 8 * n_blocks;          \
                                                                                               \
            y[r] = 0.0f;                                                                       \
            for (size_t b = 0; b < n_blocks; b++) {                                            \
                y[r] = add(y[r], &block[b], &x[b], r % 8);                                     \
            }                                                                                  \
        }                                                                                      \
    }

GEMV_BLOCKS(gemv_f32_q8x8_q8_ref, block_q8x8, block_q8, add_q8, 32)
GEMV_BLOCKS(gemv_f32_q4x8_q8_ref, block_q4x8, block_q8, add_q4, 32)
GEMV_BLOCKS(gemv_f32_q4kx8_q8k_ref, block_q4kx8, block_q8k, add_q4k, 256)
GEMV_BLOCKS(gemv_f32_q6kx8_q8k_ref, block_q6kx8, block_q8k, add_q6k, 256)
