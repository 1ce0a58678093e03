/* The name of a model in its image. */
#ifndef INGOT_FLASH_IMAGE_MODEL_NAME_H
#define INGOT_FLASH_IMAGE_MODEL_NAME_H

#include "flash_image/source/source.h"

/* Write the model's own name, else that of its file, without control characters and cut after a
 * whole UTF-8 character, to name, which is zero. */
void model_name(const struct source *s, char name[64]);

#endif
