/* y = W x for a chunk of tokens and any type of W. The input is quantized once, then rows are
 * multiplied, by gemv for one token and by gemm for several; both give a token the same bits. */
#ifndef INGOT_RUNTIME_LINEAR_H
#define INGOT_RUNTIME_LINEAR_H

#include <stddef.h>
#include <stdint.h>

#include "flash_image/format/format.h"
#include "kernels/kernels.h"
#include "runtime/compute/activations.h"

enum { LINEAR_GROUP = 4 }; /* tokens are distributed to cores in whole groups */

/* Tokens of x as floats; the activations have the quantized forms. */
struct linear_input {
    const float *x; /* (n_tokens, stride), zeros beyond the matrix's columns */
    size_t stride;  /* floats */
    uint32_t n_tokens;
    uint32_t first; /* index of the first token among the prepared ones; 0 unless n_tokens is 1 */
};

/* Quantize tokens [first, last) for matrices of `types` (bits 1 << enum ingot_type), into the
 * activations. `first` and `last` are multiples of LINEAR_GROUP, but `last` may also be
 * n_tokens. */
void linear_prepare(const struct kernels *k, const struct activations *a, uint32_t types,
                    const struct linear_input *in, size_t first, size_t last);

/* The next three functions are for a block that uses the input of some tokens several times.
 * Keep the prepared input of tokens [first, last), in rows of dim_stride. */
void linear_keep(const struct activations *a, uint32_t types, size_t first, size_t last);

/* Copy the kept input of a token to row `row` of the quantized input. */
void linear_take(const struct activations *a, uint32_t types, size_t row, size_t token);

/* Group rows [first, last) for a gemm, as linear_prepare does. */
void linear_group(const struct kernels *k, const struct activations *a, uint32_t types,
                  const struct linear_input *in, size_t first, size_t last);

/* Multiply rows [first, first + n) of w, where first % 8 == 0, and write y[t * y_stride + first
 * ...] for every token t. `rows` points at the row of w that goes to y[0], usually row 0. The input
 * was prepared for w->type. */
void linear_rows(const struct kernels *k, const struct activations *a, const struct ingot_tensor *w,
                 const uint8_t *rows, const struct linear_input *in, float *y, size_t y_stride,
                 size_t first, size_t n);

/* Like linear_rows for n rows and one token, on one core. x has zeros up to w->cols_padded. blocks
 * (cols_padded / 32, 16-byte aligned) is work space. image_type_suits_head(w->type) must be
 * true. */
void linear_vector(const struct kernels *k, const struct ingot_tensor *w, const void *rows,
                   const float *x, struct block_q8 *blocks, float *y, size_t n);

/* Write row `row` of the rows at `rows` (whole interleaved groups) as floats to x
 * (w->cols_padded). */
void linear_row(const struct kernels *k, const struct ingot_tensor *w, float *x, const void *rows,
                size_t row);

/* Like linear_row, for a type that is not packed (image_type_is_packed). */
void linear_wide_row(const struct kernels *k, const struct ingot_tensor *w, float *x,
                     const void *rows, size_t row);

#endif
