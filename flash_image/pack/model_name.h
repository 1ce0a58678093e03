/* The name of a model in its image. */
#ifndef INGOT_FLASH_IMAGE_MODEL_NAME_H
#define INGOT_FLASH_IMAGE_MODEL_NAME_H

#include "flash_image/source/source.h"

/* Write the model's own name, else its file's name, to `name`, which must be all zeros. Control
 * characters are replaced; a long name is cut after a whole UTF-8 character. */
void model_name(const struct source *s, char name[64]);

#endif
