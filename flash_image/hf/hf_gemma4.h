/* Fields of config.json about Gemma 4 alone. */
#ifndef INGOT_FLASH_IMAGE_HF_GEMMA4_H
#define INGOT_FLASH_IMAGE_HF_GEMMA4_H

#include "flash_image/hf/hf_json.h"

/* Both widths of a head, before the family fills params. Errors go to j->e, as of the next one. */
void hf_gemma4_read_widths(struct hf_json *j);

/* The embedding of each layer, shared keys, and widths and heads of single layers, once it is known which
 * layers are local. */
void hf_gemma4_read_layers(struct hf_json *j);

#endif
