/* DeepSeek's fields of config.json: latent keys and values, and experts in groups. Errors go to j->e. */
#ifndef INGOT_FLASH_IMAGE_HF_LATENT_H
#define INGOT_FLASH_IMAGE_HF_LATENT_H

#include "flash_image/hf/hf_config.h"
#include "flash_image/hf/hf_json.h"

/* The widths of heads, after family_set_params. Nothing in other families. */
void hf_latent_read(struct hf_json *j, struct hf_config *c);

/* How experts are chosen, where the family leaves it to config.json. */
void hf_latent_read_router(struct hf_json *j);

/* The width of a layer's shared experts together. */
uint32_t hf_latent_shared_width(struct hf_json *j);

/* For each head the rows that make its key and those that make its value. */
enum err hf_latent_place(struct source *s, const char *name, const struct source_tensor *t,
                         unsigned layer);

#endif
