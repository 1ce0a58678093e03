/* Rotation as config.json describes it. */
#ifndef INGOT_FLASH_IMAGE_HF_ROPE_H
#define INGOT_FLASH_IMAGE_HF_ROPE_H

#include "flash_image/source/families.h"
#include "flash_image/hf/hf_json.h"

/* Read bases and dimensions into params, which have their sizes. Errors go to config->e. */
void hf_rope_read_base(struct hf_json *config, const struct family *f);

/* Fill s->rope with factors, and params with the values that belong to them. params are already
 * checked and have their window. */
void hf_rope_read_scaling(struct hf_json *config);

#endif
