/* Products with weights stored as in a GGUF file (TYPE_PACKED in flash_image/format/types.def): a
 * core unpacks some rows at a time to the layout of another type, whose kernels multiply them. */
#ifndef INGOT_RUNTIME_PACKED_H
#define INGOT_RUNTIME_PACKED_H

#include "runtime/compute/linear.h"

/* Return the bytes of a core's work space for matrices of these types (bits 1 << enum ingot_type)
 * with at most `widest` columns; 0 if no type is packed. */
size_t packed_space_bytes(uint32_t types, size_t widest);

/* Like linear_rows, for a packed type. space: packed_space_bytes() for w, 16-byte aligned. */
void packed_rows(const struct kernels *k, const struct activations *a, const struct ingot_tensor *w,
                 const uint8_t *rows, const struct linear_input *in, float *y, size_t y_stride,
                 size_t first, size_t n, void *space);

/* Like linear_row, for a packed type. */
void packed_row(const struct kernels *k, const struct ingot_tensor *w, float *x, const void *rows,
                size_t row);

#endif
