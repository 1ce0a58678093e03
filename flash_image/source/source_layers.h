/* The layers of a model as the image describes them. */
#ifndef INGOT_FLASH_IMAGE_SOURCE_LAYERS_H
#define INGOT_FLASH_IMAGE_SOURCE_LAYERS_H

#include "flash_image/source/source.h"

/* Fill the parameters of the image. */
void source_model(const struct source_params *p, struct ingot_params *model);

/* Fill `ropes` with the ways in which layers rotate, then zeros; their factors are in s->rope.
 * Returns how many ways there are. */
uint32_t source_ropes(const struct source *s, struct ingot_rope ropes[INGOT_MAX_ROPES]);

/* Let the last n layers (fewer than all) use the keys of the last earlier layer with the same
 * window. False: no earlier layer has keys for layer *layer. */
bool source_share_keys(struct source_params *p, uint32_t n, uint32_t *layer);

/* Fill layer number `layer`, except for the positions of its weights. */
void source_layer(const struct source_params *p, uint32_t layer, struct ingot_layer *out);

#endif
