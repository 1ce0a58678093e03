/* y = W x for a chunk of tokens and any type of W. The input is quantized once, then rows are
 * multiplied, by gemv for one token and by gemm for several; both give a token the same bits. */
#ifndef INGOT_RUNTIME_LINEAR_H
#define INGOT_RUNTIME_LINEAR_H

#include <stddef.h>
#include <stdint.h>

#include "flash_image/format/format.h"
#include "kernels/kernels.h"
#include "runtime/compute/activations.h"

enum { LINEAR_GROUP = 4 }; /* tokens are shared out to cores in whole groups */

/* Tokens of x as floats; the quantized forms are in the activations. */
struct linear_input {
    const float *x; /* (n_tokens, stride), zeros beyond the matrix' columns */
    size_t stride;  /* floats */
    uint32_t n_tokens;
    uint32_t first; /* number of the first one among those that are prepared; not 0 with one token
                       alone */
};

/* Quantize tokens [first, last) for matrices of `types` (bits 1 << enum ingot_type), into the
 * activations. first % LINEAR_GROUP == 0, last too or all tokens. */
void linear_prepare(const struct kernels *k, const struct activations *a, uint32_t types,
                    const struct linear_input *in, size_t first, size_t last);

/* The same in two steps, for a block that takes some tokens' input again and again: put aside what
 * was prepared of tokens [first, last), rows of dim_stride; ... */
void linear_keep(const struct activations *a, uint32_t types, size_t first, size_t last);

/* ... and row `row` of the quantized input becomes that of a token put aside; ... */
void linear_take(const struct activations *a, uint32_t types, size_t row, size_t token);

/* ... and rows [first, last) are grouped for a gemm, as linear_prepare does it. */
void linear_group(const struct kernels *k, const struct activations *a, uint32_t types,
                  const struct linear_input *in, size_t first, size_t last);

/* Rows [first, first + n) of w, first % 8 == 0: y[t * y_stride + first ...] for every token.
 * rows: row 0 of w, or of the part of it that y starts with. The input was prepared for w->type. */
void linear_rows(const struct kernels *k, const struct activations *a, const struct ingot_tensor *w,
                 const uint8_t *rows, const struct linear_input *in, float *y, size_t y_stride,
                 size_t first, size_t n);

/* The same for n rows and one token alone, for a core by itself: x has zeros up to w->cols_padded,
 * blocks (cols_padded / 32) is work space. The type is of floats or takes Q8. */
void linear_vector(const struct kernels *k, const struct ingot_tensor *w, const void *rows,
                   const float *x, struct block_q8 *blocks, float *y, size_t n);

/* Row `row` of the rows at `rows` (whole interleaved groups) as floats to x (w->cols_padded). */
void linear_row(const struct kernels *k, const struct ingot_tensor *w, float *x, const void *rows,
                size_t row);

#endif
