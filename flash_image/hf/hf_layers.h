/* Fields of config.json about individual layers and about experts. */
#ifndef INGOT_FLASH_IMAGE_HF_LAYERS_H
#define INGOT_FLASH_IMAGE_HF_LAYERS_H

#include "flash_image/hf/hf_json.h"
#include "flash_image/source/families.h"

/* For a config.json without a number of layers: count them in its text or list; 0: there is
 * neither. */
uint32_t hf_layers_count(const struct hf_json *j);

/* The width of the dense feed-forward for the width in config.json: LFM2 scales and rounds it. */
uint32_t hf_layers_hidden(struct hf_json *j, const struct family *f, uint32_t hidden);

/* Fill params, which already have the values of the family. Errors go to j->e. */
void hf_layers_read_mixers(struct hf_json *j, const struct family *f);
void hf_layers_read_experts(struct hf_json *j, const struct family *f);

#endif
