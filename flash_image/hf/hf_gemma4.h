/* Fields of config.json that only Gemma 4 has. */
#ifndef INGOT_FLASH_IMAGE_HF_GEMMA4_H
#define INGOT_FLASH_IMAGE_HF_GEMMA4_H

#include "flash_image/hf/hf_json.h"

/* Read the widths of a head in local and in global layers. Call this before family_set_params.
 * Errors of this and the next function go to j->e. */
void hf_gemma4_read_widths(struct hf_json *j);

/* Read the embedding of each layer, shared keys, and the widths and heads of individual layers.
 * Windows must have been read. */
void hf_gemma4_read_layers(struct hf_json *j);

#endif
