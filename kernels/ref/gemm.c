/* References of the matrix-matrix kernels: y = x W', that is, y[t][r] = sum_c x[t][c] W[r][c].
 *
 * Each token gets the same bits as from the gemv. So a prompt may be cut into chunks of any size,
 * and guesses may be checked together, without changing the logits. */
#include "kernels/kernels.h"
#include "kernels/ref/dot.h"

/* Row t of x begins at x + t x_stride, row t of y at y + t y_stride: x and y
 * may be parts of larger matrices. Bytes between rows of y are not changed. */
void gemm_f32_f32_f32_ref(float *restrict y, const void *restrict w, const float *restrict x,
                          const struct gemm_shape *restrict shape)
{
    for (size_t t = 0; t < shape->n_tokens; t++) {
        gemv_f32_f32_f32_ref(y + t * shape->y_stride, w, x + t * shape->x_stride, shape->rows,
                             shape->cols, 0);
    }
}

/* A kernel widens a row of W once for several tokens; the lanes of each token stay separate. */
void gemm_f32_f16_f32_ref(float *restrict y, const void *restrict w, const float *restrict x,
                          const struct gemm_shape *restrict shape)
{
    for (size_t t = 0; t < shape->n_tokens; t++) {
        gemv_f32_f16_f32_ref(y + t * shape->y_stride, w, x + t * shape->x_stride, shape->rows,
                             shape->cols, 0);
    }
}

/* Compute the sums of GEMV_BLOCKS (kernels/ref/gemv.c) in another order of loops: a block of x is
 * extracted from its group once for all rows. Each y[t][r] still adds its blocks in ascending
 * order; nothing else affects its bits. Lanes of the last group beyond n_tokens are never
 * read. */
#define GEMM_BLOCKS(name, layout, group, activations, token_of, add, block_cols) \
    void name(float *restrict y, const void *restrict w, const struct group *restrict x, \
              const struct gemm_shape *restrict shape) \
    { \
        size_t n_blocks = shape->cols / (block_cols); \
\
        assert(shape->cols % (block_cols) == 0); \
        for (size_t t = 0; t < shape->n_tokens; t++) { \
            float *out = y + t * shape->y_stride; \
\
            for (size_t r = 0; r < shape->rows; r++) { \
                out[r] = 0.0f; \
            } \
            for (size_t b = 0; b < n_blocks; b++) { \
                struct activations token = token_of(&x[t / 4 * n_blocks + b], t % 4); \
\
                for (size_t r = 0; r < shape->rows; r++) { \
                    const struct layout *block = (const struct layout *)w + r / 8 * n_blocks; \
\
                    out[r] = add(out[r], &block[b], &token, r % 8); \
                } \
            } \
        } \
    }

#define TYPE_WEIGHTS(NAME, id, name, layout, columns, act, ...) \
    GEMM_BLOCKS(gemm_f32_##layout##x8_##act##x4_ref, block_##layout##x8, block_##act##x4, \
                block_##act, token_##act, add_##layout, columns)
#define TYPE_TABLED(...)
#include "flash_image/format/types.def"
