/* Rows of a source tensor of any type as floats. */
#ifndef INGOT_FLASH_IMAGE_SOURCE_ROWS_H
#define INGOT_FLASH_IMAGE_SOURCE_ROWS_H

#include "flash_image/source/source.h"

/* Row `row` of t as floats to out (t->cols). source_read_plain: one element of F32, F16, BF16. */
float source_read_plain(const struct source_tensor *t, uint32_t row, uint32_t col);
void source_read_row(const struct source_tensor *t, uint32_t row, float *out);

#endif
