/* Reads the rotation that config.json describes. */
#ifndef INGOT_FLASH_IMAGE_HF_ROPE_H
#define INGOT_FLASH_IMAGE_HF_ROPE_H

#include "flash_image/source/families.h"
#include "flash_image/hf/hf_json.h"

/* Read bases and dimensions of rotation into params, whose sizes are already set. Errors go to
 * config->e. */
void hf_rope_read_base(struct hf_json *config, const struct family *f);

/* Fill config->s->rope with factors, and set the params that belong to them. params must be checked
 * and have their window. */
void hf_rope_read_scaling(struct hf_json *config);

#endif
