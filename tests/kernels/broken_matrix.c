/* Matrix kernels that are wrong on purpose, in one way each; the list is in broken.c. */
#include <string.h>

#include "kernels/ref/dot.h"
#include "tests/kernels/broken_kernels.h"

void gemv_misses_last_row(float *restrict y, const void *restrict w,
                          const struct block_q8 *restrict x, size_t rows, size_t cols, size_t ahead)
{
    gemv_f32_q4x8_q8_ref(y, w, x, rows ? rows - 1 : 0, cols, ahead);
}

void gemv_writes_whole_groups(float *restrict y, const void *restrict w,
                              const struct block_q8 *restrict x, size_t rows, size_t cols,
                              size_t ahead)
{
    gemv_f32_q4x8_q8_ref(y, w, x, (rows + 7) / 8 * 8, cols, ahead);
}

/* Adds pairs of products in 16 bits, which is right until both are -128 * -128. */
void gemv_wraps_pairs(float *restrict y, const void *restrict w, const struct block_q8 *restrict x,
                      size_t rows, size_t cols, size_t ahead)
{
    const uint8_t *groups = w;

    (void)ahead;
    for (size_t r = 0; r < rows; r++) {
        float acc = 0.0f;

        for (size_t b = 0; b < cols / 32; b++) {
            const uint8_t *group = groups + (r / 8 * (cols / 32) + b) * 272;
            const int8_t *q = (const int8_t *)group + 16;
            uint16_t half;
            int32_t sum = 0;

            memcpy(&half, group + 2 * (r % 8), 2);
            for (size_t c = 0; c < 32; c++) {
                size_t at = c / 8 * 64 + r % 8 * 4 + c % 4;

                if (c % 8 < 4) {
                    sum += (int16_t)(q[at] * x[b].q[c] + q[at + 32] * x[b].q[c + 4]);
                }
            }
            acc = fmaf((float)sum, f32_from_f16(half) * x[b].d, acc);
        }
        y[r] = acc;
    }
}

/* Adds in one order where the contract has 16 lanes. */
void gemv_sums_in_order(float *restrict y, const void *restrict w, const float *restrict x,
                        size_t rows, size_t cols, size_t ahead)
{
    const float *row = w;

    (void)ahead;
    for (size_t r = 0; r < rows; r++, row += cols) {
        y[r] = 0.0f;
        for (size_t c = 0; c < cols; c++) {
            y[r] = fmaf(row[c], x[c], y[r]);
        }
    }
}

/* Uses the mins of sub-blocks 0 to 3 for 4 to 7. */
void gemv_takes_low_mins(float *restrict y, const void *restrict w,
                         const struct block_q8k *restrict x, size_t rows, size_t cols, size_t ahead)
{
    const struct block_q4kx8 *blocks = w;

    (void)ahead;
    for (size_t r = 0; r < rows; r++) {
        y[r] = 0.0f;
        for (size_t b = 0; b < cols / 256; b++) {
            struct block_q4kx8 block = blocks[r / 8 * (cols / 256) + b];

            for (size_t j = 0; j < 4; j++) {
                block.mins[j][r % 8] = (uint8_t)((block.mins[j][r % 8] & 15) * 17);
            }
            y[r] = add_q4k(y[r], &block, &x[b], r % 8);
        }
    }
}

/* Computes the dot product of a sub-block in 16 bits, which is right until the values are
 * extreme. */
void gemv_wraps_sub_blocks(float *restrict y, const void *restrict w,
                           const struct block_q8k *restrict x, size_t rows, size_t cols,
                           size_t ahead)
{
    const struct block_q6kx8 *blocks = w;

    (void)ahead;
    for (size_t r = 0; r < rows; r++) {
        y[r] = 0.0f;
        for (size_t b = 0; b < cols / 256; b++) {
            const struct block_q6kx8 *block = &blocks[r / 8 * (cols / 256) + b];
            int32_t sum = 0;

            for (size_t j = 0; j < 16; j++) {
                int32_t dot = 0;

                for (size_t c = 16 * j; c < 16 * j + 16; c++) {
                    dot += value_q6k(block, r % 8, c) * x[b].q[c];
                }
                sum += block->scales[j][r % 8] * (int16_t)dot;
            }
            y[r] = fmaf((float)sum, f32_from_f16(block->d[r % 8]) * x[b].d, y[r]);
        }
    }
}

void gemm_writes_past_tokens(float *restrict y, const void *restrict w,
                             const struct block_q8x4 *restrict x,
                             const struct gemm_shape *restrict shape)
{
    gemm_f32_q4x8_q8x4_ref(y, w, x, shape);
    if (shape->rows) {
        y[shape->n_tokens * shape->y_stride] = 0.0f;
    }
}

void gemm_misses_last_token(float *restrict y, const void *restrict w,
                            const struct block_q8x4 *restrict x,
                            const struct gemm_shape *restrict shape)
{
    struct gemm_shape less = *shape;

    less.n_tokens -= shape->n_tokens != 0;
    gemm_f32_q8x8_q8x4_ref(y, w, x, &less);
}

/* Makes the fourth token of each group wrong by an ulp. */
void gemm_rounds_one_lane(float *restrict y, const void *restrict w,
                          const struct block_q8kx4 *restrict x,
                          const struct gemm_shape *restrict shape)
{
    gemm_f32_q4kx8_q8kx4_ref(y, w, x, shape);
    for (size_t t = 3; t < shape->n_tokens; t += 4) {
        for (size_t r = 0; r < shape->rows; r++) {
            y[t * shape->y_stride + r] = nextafterf(y[t * shape->y_stride + r], INFINITY);
        }
    }
}

/* Treats every group of tokens as if it were full, which is harmless until the lanes beyond hold
 * garbage. */
void gemm_needs_all_lanes(float *restrict y, const void *restrict w,
                          const struct block_q8x4 *restrict x,
                          const struct gemm_shape *restrict shape)
{
    gemm_f32_q8x8_q8x4_ref(y, w, x, shape);
    for (size_t t = 0; t < shape->n_tokens && shape->cols; t++) {
        for (size_t r = 0; r < shape->rows; r++) {
            y[t * shape->y_stride + r] += 0.0f * x[t / 4 * (shape->cols / 32)].d[3];
        }
    }
}

void gemm_skips_last_block(float *restrict y, const void *restrict w,
                           const struct block_q8kx4 *restrict x,
                           const struct gemm_shape *restrict shape)
{
    struct gemm_shape less = *shape;

    if (shape->rows <= 8 && shape->n_tokens <= 4 && shape->cols) { /* no stride depends on cols */
        less.cols -= 256;
    }
    gemm_f32_q6kx8_q8kx4_ref(y, w, x, &less);
}

void gemm_writes_between_rows(float *restrict y, const void *restrict w, const float *restrict x,
                              const struct gemm_shape *restrict shape)
{
    gemm_f32_f32_f32_ref(y, w, x, shape);
    if (shape->n_tokens > 1 && shape->y_stride > shape->rows) {
        y[shape->rows] = 0.0f;
    }
}

void gemm_ignores_x_stride(float *restrict y, const void *restrict w, const float *restrict x,
                           const struct gemm_shape *restrict shape)
{
    struct gemm_shape dense = *shape;

    dense.x_stride = shape->cols;
    gemm_f32_f16_f32_ref(y, w, x, &dense);
}
