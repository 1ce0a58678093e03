/* Made-up weights: rows of random numbers that are in no file (SOURCE_SYNTH). */
#ifndef INGOT_FLASH_IMAGE_SYNTHETIC_ROWS_H
#define INGOT_FLASH_IMAGE_SYNTHETIC_ROWS_H

#include "flash_image/source/source.h"

/* Make a good random number from any counter (splitmix64), so rows need no shared state. */
uint64_t synthetic_mix(uint64_t x);

/* Return source_tensor.data for a made-up tensor. sparse: all rows after the first group are
 * 0. */
const uint8_t *synthetic_data(bool sparse);

/* True if all rows of the made-up tensor t from `row` on are 0. */
bool synthetic_rows_end(const struct source_tensor *t, uint32_t row);

/* Write row `row` of a SOURCE_SYNTH tensor to out (t->cols); equal seeds and shapes give equal
 * rows. */
void synthetic_row_read(const struct source_tensor *t, uint32_t row, float *out);

#endif
