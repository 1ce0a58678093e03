/* The layers of a model as the image describes them. */
#ifndef INGOT_FLASH_IMAGE_SOURCE_LAYERS_H
#define INGOT_FLASH_IMAGE_SOURCE_LAYERS_H

#include "flash_image/source/source.h"

/* The parameters of the image. */
void source_model(const struct source_params *p, struct ingot_params *model);

/* The ways in which its layers rotate, zeros after them; the factors they name are s->rope. Returns
 * how many there are. */
uint32_t source_ropes(const struct source *s, struct ingot_rope ropes[INGOT_MAX_ROPES]);

/* Layer number `layer`, but for where its weights are. */
void source_layer(const struct source_params *p, uint32_t layer, struct ingot_layer *out);

#endif
