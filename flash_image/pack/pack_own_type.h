/* The type in which the image stores a tensor of a file unless an option asks for another. */
#ifndef INGOT_FLASH_IMAGE_PACK_OWN_TYPE_H
#define INGOT_FLASH_IMAGE_PACK_OWN_TYPE_H

#include "flash_image/source/source.h"

/* The nearest type to the source's that loses nothing, or almost nothing. All experts share a
 * type. */
enum ingot_type pack_own_type(const struct source_tensor *t);

/* For MXFP4 and IQ4_XS the type with the same table, or F32 if 16 bits cannot hold the scales. */
enum ingot_type pack_table_type(const struct source_tensor *t);

#endif
