/* Quantizers for types whose nibbles are indices into a table: IQ4_NL, MXFP4 and FIG4. */
#ifndef INGOT_FLASH_IMAGE_QUANTIZE_TABLE_H
#define INGOT_FLASH_IMAGE_QUANTIZE_TABLE_H

#include <stdbool.h>

#include "flash_image/source/source.h"

/* nearest[i]: the nibble whose value is nearest to the numbers from n / 2 to (n + 1) / 2, where
 * n is TABLE_LEAST + i. Values are integers, so the middle between two of them is a multiple of
 * 1/2. */
enum { TABLE_LEAST = -320, TABLE_MOST = 319 };
struct table_codec {
    int8_t values[NIBBLES];
    uint8_t nearest[TABLE_MOST - TABLE_LEAST + 1];
};
void table_codec_make(struct table_codec *codec, const int8_t values[NIBBLES]);

/* Convert floats to a block: an fp16 scale, then nibbles in groups of 32, each ordered as in
 * Q4_0. h is as in quantize.h. 32 floats make a block of 18 bytes; FIG4's 128 floats make 66 bytes.
 * False: the scale exceeds fp16. iq4_nl and fig4 try scales around the scale that puts the largest
 * element at the table's end, and take the one with the least squared error; mxfp4 takes the best
 * power of 2 that fits fp16. */
typedef bool quantize_table_fn(const float *w, const float *h, const struct table_codec *codec,
                               uint8_t *block);
quantize_table_fn quantize_block_iq4_nl, quantize_block_mxfp4, quantize_block_fig4;

/* Convert a block back to n floats, 32 or 128. */
void table_read_block(const uint8_t *block, const struct table_codec *codec, size_t n, float *out);

/* Find FIG4's 16 values for a tensor. Each 128 weights are divided by the largest magnitude among
 * them. 8 steps of k-means, begun at NF4's values, find the centres. The centre nearest to 0
 * becomes 0, and all are within +-TABLE_NARROW. h: importance of the columns (NULL: all equal);
 * row: space for a row. A stack of experts has one table. t->cols % 128 == 0, weights finite. */
void fig4_find_values(const struct source_tensor *t, const float *h, float *row,
                      int8_t values[NIBBLES]);

/* Put blocks of nibbles into a group of eight rows, as in quantize.h. */
void interleave_fig4(const uint8_t *const blocks[8], void *group);

#endif
