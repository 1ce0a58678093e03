/* From rows to the groups that the kernels read (flash_image/format/format.h). */
#ifndef INGOT_FLASH_IMAGE_QUANTIZE_H
#define INGOT_FLASH_IMAGE_QUANTIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flash_image/format/format.h"

/* Finite floats to one GGML block, whose members stand over each function; types.def has how many floats and bytes.
 * False: a scale exceeds fp16. The least squared error of a search around the plain rule (GGML's own for Q4_0, the
 * largest element / 127 for Q8_0) or around the minimum and the maximum; never worse than that. With few values, sign
 * and size of the scale are free.
 * h: how much the square of each element's error counts, above 0 (the mean square of what it will
 * be multiplied by); fit_ones: all alike. */
typedef bool quantize_block_fn(const float *w, const float *h, uint8_t *block);
#define TYPE_WEIGHTS(NAME, id, name, layout, ...) quantize_block_fn quantize_block_##layout;
#define TYPE_TABLED(...)
#include "flash_image/format/types.def"

/* GGML blocks into the group of eight rows: blocks[r] is the block of row r at this column
 * block, NULL for a row of padding. Values are kept bit for bit. group is a struct block_q8x8,
 * q4x8 and so on; of Q2_0 four blocks of a row lie side by side, of Q1_0 two. */
#define TYPE_WEIGHTS(NAME, id, name, layout, ...) \
    void interleave_##layout(const uint8_t *const blocks[8], void *group);
#define TYPE_TABLED_AGAIN(...)
#include "flash_image/format/types.def"

#endif
