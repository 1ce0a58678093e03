/* Reads rows of a source tensor of any type as floats. */
#ifndef INGOT_FLASH_IMAGE_SOURCE_ROWS_H
#define INGOT_FLASH_IMAGE_SOURCE_ROWS_H

#include "flash_image/source/source.h"

enum { SOURCE_BLOCK_BYTES = 256 }; /* no block has more */

/* Return GGML's type with the same values, which is `type` unless the file orders blocks
 * differently. */
enum source_type source_ggml_type(enum source_type type);

/* Return block number i of row `row` in the layout of source_ggml_type(); it is in the file or in
 * `space`. Rows are whole blocks. */
const uint8_t *source_block(const struct source_tensor *t, uint32_t row, uint32_t i,
                            uint8_t space[SOURCE_BLOCK_BYTES]);

/* True if the model rounds floats of this type to three values while it runs. */
static inline bool source_is_rounded(enum source_type type)
{
    return type == SOURCE_ROUNDED_F32 || type == SOURCE_ROUNDED_F16 || type == SOURCE_ROUNDED_BF16;
}

/* Read one element of an F32, F16 or BF16 tensor, or (source_read_row) row `row` of any tensor as
 * floats to out (t->cols). */
float source_read_plain(const struct source_tensor *t, uint32_t row, uint32_t col);
void source_read_row(const struct source_tensor *t, uint32_t row, float *out);

#endif
