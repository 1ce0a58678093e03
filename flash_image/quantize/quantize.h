/* Quantizes rows, and puts blocks into the groups that the kernels read
 * (flash_image/format/format.h). */
#ifndef INGOT_FLASH_IMAGE_QUANTIZE_H
#define INGOT_FLASH_IMAGE_QUANTIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flash_image/format/format.h"

/* Convert finite floats to one GGML block, whose members are in the comment above each
 * definition; types.def has the numbers of floats and bytes. False: a scale exceeds fp16. A search
 * around a plain rule (GGML's for Q4_0, the largest element / 127 for Q8_0), or around minimum and
 * maximum, finds a scale whose squared error is never larger than with the plain rule. Types with
 * few values try all scales of either sign. h: the weight of each element's squared error, above 0.
 * It is the root mean square of the activations that multiply the element (scaled to about 1), or
 * fit_ones. */
typedef bool quantize_block_fn(const float *w, const float *h, uint8_t *block);
#define TYPE_WEIGHTS(NAME, id, name, layout, ...) quantize_block_fn quantize_block_##layout;
#define TYPE_TABLED(...)
#include "flash_image/format/types.def"

/* Put GGML blocks into a group of eight rows, without changing values. blocks[r] is row r's block;
 * NULL: a row of padding. group is a struct block_q8x8, q4x8 and so on; a group of Q2_0 takes four
 * consecutive blocks of each row, a group of Q1_0 two. */
#define TYPE_WEIGHTS(NAME, id, name, layout, ...) \
    void interleave_##layout(const uint8_t *const blocks[8], void *group);
#define TYPE_TABLED_AGAIN(...)
#define TYPE_PACKED TYPE_WEIGHTS
#include "flash_image/format/types.def"

#endif
