/* The type in which the image stores a file's tensor unless an option names another type. */
#ifndef INGOT_FLASH_IMAGE_PACK_OWN_TYPE_H
#define INGOT_FLASH_IMAGE_PACK_OWN_TYPE_H

#include "flash_image/source/source.h"

/* Find the type that represents the source's values. Blocks of GGUF files get a type with as many
 * bytes as in the file (TYPE_PACKED). All experts share one type. */
enum ingot_type pack_own_type(const struct source_tensor *t);

/* As pack_own_type, for a matrix that is multiplied separately for each head
 * (image_type_suits_head). */
enum ingot_type pack_own_head_type(const struct source_tensor *t);

/* Return the type for a tensor of MXFP4: MXFP4, or F32 if 16 bits cannot hold the scales. */
enum ingot_type pack_mxfp4_type(const struct source_tensor *t);

#endif
