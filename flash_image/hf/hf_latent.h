/* DeepSeek's fields of config.json: latent keys and values, and experts in groups. Errors go to
 * j->e. */
#ifndef INGOT_FLASH_IMAGE_HF_LATENT_H
#define INGOT_FLASH_IMAGE_HF_LATENT_H

#include "flash_image/hf/hf_config.h"
#include "flash_image/hf/hf_json.h"

/* Set the widths of heads, after family_set_params. Does nothing for other families. */
void hf_latent_read(struct hf_json *j, struct hf_config *c);

/* Set how experts are chosen and scaled, if the family leaves it to config.json. */
void hf_latent_read_router(struct hf_json *j, const struct family *f);

/* The sum of the widths of a layer's shared experts. */
uint32_t hf_latent_shared_width(struct hf_json *j);

/* Split a matrix for keys and values: each head's rows for its key, then its rows for its value. */
enum err hf_latent_place(struct source *s, const char *name, const struct source_tensor *t,
                         unsigned layer);

#endif
