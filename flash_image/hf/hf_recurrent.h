/* Fields of config.json about recurrent mixers. */
#ifndef INGOT_FLASH_IMAGE_HF_RECURRENT_H
#define INGOT_FLASH_IMAGE_HF_RECURRENT_H

#include "flash_image/hf/hf_json.h"
#include "flash_image/source/families.h"

/* Read the sizes of the family's recurrent mixer into params.recurrent. Errors go to j->e. */
void hf_recurrent_read(struct hf_json *j, const struct family *f);

#endif
