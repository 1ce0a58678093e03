/* The type of the image in which a tensor of a file is stored where nobody asks for another. */
#ifndef INGOT_FLASH_IMAGE_PACK_OWN_TYPE_H
#define INGOT_FLASH_IMAGE_PACK_OWN_TYPE_H

#include "flash_image/source/source.h"

/* The nearest to the source's type that loses nothing, or next to nothing. All experts share a type. */
enum ingot_type pack_own_type(const struct source_tensor *t);

/* For MXFP4 and IQ4_XS the type with the same table, or F32 where 16 bits do not hold the scales. */
enum ingot_type pack_table_type(const struct source_tensor *t);

#endif
