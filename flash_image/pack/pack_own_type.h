/* The type in which the image stores a tensor of a file unless an option asks for another. */
#ifndef INGOT_FLASH_IMAGE_PACK_OWN_TYPE_H
#define INGOT_FLASH_IMAGE_PACK_OWN_TYPE_H

#include "flash_image/source/source.h"

/* The type that has the values of the source's, in as many bytes if a type of GGUF files has them: TYPE_PACKED. All experts
 * share a type. */
enum ingot_type pack_own_type(const struct source_tensor *t);

/* The same for a matrix that heads multiply by themselves (image_type_suits_head). */
enum ingot_type pack_own_head_type(const struct source_tensor *t);

/* For MXFP4 the type with the same table, or F32 if 16 bits cannot hold the scales. */
enum ingot_type pack_mxfp4_type(const struct source_tensor *t);

#endif
