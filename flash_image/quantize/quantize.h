/* From rows to the groups that the kernels read (flash_image/format/format.h). */
#ifndef INGOT_FLASH_IMAGE_QUANTIZE_H
#define INGOT_FLASH_IMAGE_QUANTIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flash_image/format/format.h"

/* Convert finite floats to one GGML block, whose members are listed above each function; types.def has the numbers of
 * floats and bytes. False: a scale exceeds fp16. The result has the least squared error of a search around the plain
 * rule (GGML's own for Q4_0, the largest element / 127 for Q8_0) or around the minimum and the maximum, and is never
 * worse than these. With few values, sign and size of the scale are free. h: the weight of each element's squared
 * error, above 0 (the mean square of the activations that multiply it); fit_ones: all equal. */
typedef bool quantize_block_fn(const float *w, const float *h, uint8_t *block);
#define TYPE_WEIGHTS(NAME, id, name, layout, ...) quantize_block_fn quantize_block_##layout;
#define TYPE_TABLED(...)
#include "flash_image/format/types.def"

/* Put GGML blocks into the group of eight rows: blocks[r] is the block of row r at this column
 * block, NULL for a row of padding. Values do not change. group is a struct block_q8x8, q4x8 and so
 * on; for Q2_0 four blocks of a row are side by side, for Q1_0 two. */
#define TYPE_WEIGHTS(NAME, id, name, layout, ...) \
    void interleave_##layout(const uint8_t *const blocks[8], void *group);
#define TYPE_TABLED_AGAIN(...)
#define TYPE_PACKED TYPE_WEIGHTS
#include "flash_image/format/types.def"

#endif
