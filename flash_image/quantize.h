/* From rows to the groups that the kernels read (flash_image/format.h). */
#ifndef INGOT_FLASH_IMAGE_QUANTIZE_H
#define INGOT_FLASH_IMAGE_QUANTIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flash_image/format.h"

/* 32 finite floats to one GGML block: q8 is fp16 d and int8 q[32] (34 bytes), q4 is fp16 d and
 * u8 q[16] (18 bytes), elements 0-15 in the low nibbles. False: the scale exceeds fp16.
 * Q8_0: d = max|w| / 127 rounded to fp16, q nearest to w / d as stored. Q4_0: the scale with the
 * least squared error of GGML's own (the largest element / -8) and a search around it. */
bool quantize_block_q8(const float *w, uint8_t *block);
bool quantize_block_q4(const float *w, uint8_t *block);

/* 256 finite floats to one GGML block: q4k is fp16 d and dmin, u8 scales[12], u8 q[128] (144
 * bytes), q6k u8 low[128], u8 high[64], int8 scales[16], fp16 d (210 bytes). False: as above.
 * The least squared error of a search around what minimum and maximum say. */
bool quantize_block_q4k(const float *w, uint8_t *block);
bool quantize_block_q6k(const float *w, uint8_t *block);

/* GGML blocks into the group of eight rows: blocks[r] is the block of row r at this column
 * block, NULL for a row of padding. Values are kept bit for bit. group is a struct ingot_q8x8,
 * q4x8, q4kx8, q6kx8. */
void interleave_q8(const uint8_t *const blocks[8], void *group);
void interleave_q4(const uint8_t *const blocks[8], void *group);
void interleave_q4k(const uint8_t *const blocks[8], void *group);
void interleave_q6k(const uint8_t *const blocks[8], void *group);

#endif
