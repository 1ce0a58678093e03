/* Quantizers for types whose nibbles stand for values of a table: IQ4_NL, MXFP4 and FIG4. */
#ifndef INGOT_FLASH_IMAGE_QUANTIZE_TABLE_H
#define INGOT_FLASH_IMAGE_QUANTIZE_TABLE_H

#include <stdbool.h>

#include "flash_image/source/source.h"

/* The nibble of the nearest value for each half of a unit from TABLE_LEAST on: two values have their
 * middle where a half begins. */
enum { TABLE_LEAST = -320, TABLE_MOST = 319 };
struct table_codec {
    int8_t values[NIBBLES];
    uint8_t nearest[TABLE_MOST - TABLE_LEAST + 1];
};
void table_codec_make(struct table_codec *codec, const int8_t values[NIBBLES]);

/* Floats to a block of fp16 scale and nibbles, those of each 32 as in Q4_0; h as in quantize.h.
 * 32 floats are a block of 18 bytes; 128 of FIG4 are 66. False: the scale exceeds fp16.
 * iq4_nl and fig4 take the scale of the least squared error of some around the one by which the
 * largest element meets the table's end; mxfp4 the best power of 2 that fp16 holds. */
typedef bool quantize_table_fn(const float *w, const float *h, const struct table_codec *codec,
                               uint8_t *block);
quantize_table_fn quantize_block_iq4_nl, quantize_block_mxfp4, quantize_block_fig4;

/* The same back: n floats, 32 or 128. */
void table_read_block(const uint8_t *block, const struct table_codec *codec, size_t n, float *out);

/* The values that FIG4 gives a tensor: 16 centres, by 8 steps of k-means from those of NF4, of the
 * weights over the largest of each 128; the nearest to 0 becomes 0, all lie within +-TABLE_NARROW.
 * h: importance of the columns, NULL: all alike; row: space for a row. A stack of experts has one
 * table. t->cols % 128 == 0, weights finite. */
void fig4_find_values(const struct source_tensor *t, const float *h, float *row,
                      int8_t values[NIBBLES]);

/* Blocks of the nibbles into a group of eight rows, as quantize.h's. */
void interleave_fig4(const uint8_t *const blocks[8], void *group);

#endif
