/* Compares two tensors, to find output matrices that equal the embedding. */
#ifndef INGOT_FLASH_IMAGE_EQUAL_TENSORS_H
#define INGOT_FLASH_IMAGE_EQUAL_TENSORS_H

#include "flash_image/source/source.h"

/* True if two tensors of the same type and shape are equal byte for byte. */
bool tensors_same_bytes(const struct source_tensor *a, const struct source_tensor *b);

/* True if two tensors of the same shape have equal values; each is F32, F16 or BF16. False also if
 * memory runs out. */
bool tensors_same_values(const struct source_tensor *a, const struct source_tensor *b);

#endif
