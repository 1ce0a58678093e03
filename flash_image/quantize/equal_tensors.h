/* Tells if two tensors are equal: an output matrix that is the embedding again. */
#ifndef INGOT_FLASH_IMAGE_EQUAL_TENSORS_H
#define INGOT_FLASH_IMAGE_EQUAL_TENSORS_H

#include "flash_image/source/source.h"

/* For one type and shape, byte for byte. */
bool tensors_same_bytes(const struct source_tensor *a, const struct source_tensor *b);

/* For one shape and equal values, in any types; each is F32, F16 or BF16. Returns false also if
 * memory runs out. */
bool tensors_same_values(const struct source_tensor *a, const struct source_tensor *b);

#endif
