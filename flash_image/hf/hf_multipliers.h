/* Multipliers of config.json: an image stores some; the weights are multiplied by the others. */
#ifndef INGOT_FLASH_IMAGE_HF_MULTIPLIERS_H
#define INGOT_FLASH_IMAGE_HF_MULTIPLIERS_H

#include "flash_image/hf/hf_config.h"
#include "flash_image/hf/hf_json.h"

/* Fill params and c->multipliers. Errors go to j->e. */
void hf_multipliers_read(struct hf_json *j, struct hf_config *c);

/* Multiply the matrices by c->multipliers, after all matrices are read and have their shapes.
 * Errors: ERR_NO_SPACE. */
enum err hf_multipliers_fold(struct source *s, struct hf_config *c);

#endif
