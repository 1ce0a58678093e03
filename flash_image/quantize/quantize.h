/* From rows to the groups that the kernels read (flash_image/format/format.h). */
#ifndef INGOT_FLASH_IMAGE_QUANTIZE_H
#define INGOT_FLASH_IMAGE_QUANTIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flash_image/format/format.h"

/* 32 finite floats to one GGML block: q8 is fp16 d and int8 q[32] (34 bytes), q4 is fp16 d and
 * u8 q[16] (18 bytes), elements 0-15 in the low nibbles; q41
 * is the same with fp16 m after d (20 bytes), q50 with u8 high[4] after d (22), q51 with both (24).
 * 256 floats: q4k is fp16 d and dmin,
 * u8 scales[12], u8 q[128] (144 bytes), q5k the same with u8 high[32] before q (176), q6k
 * u8 low[128], u8 high[64], int8 scales[16], fp16 d (210), q3k u8 high[32], u8 low[64],
 * u8 scales[12], fp16 d (110), q2k u8 scales[16], u8 q[64], fp16 d and dmin (84). False: a scale exceeds fp16.
 * The least squared error of a search around the plain rule (GGML's own for Q4_0, the largest
 * element / 127 for Q8_0) or around what minimum and maximum say; never worse than that.
 * h: how much the square of each element's error counts, above 0 (the mean square of what it will
 * be multiplied by); fit_ones: all alike. */
/* The same with few values, sign and size of the scale free: tq2, of 256 floats, u8 q[64] and fp16 d
 * (66 bytes), and q2, of 64, fp16 d and u8 q[16] (18), d times -1, 0, 1 or 2; q1, of 128, fp16 d and
 * u8 q[16] (18), d or -d. */
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
