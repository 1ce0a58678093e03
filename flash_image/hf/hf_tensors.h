/* Puts the tensors of a Hugging Face model into slots by name. */
#ifndef INGOT_FLASH_IMAGE_HF_TENSORS_H
#define INGOT_FLASH_IMAGE_HF_TENSORS_H

#include "flash_image/hf/hf_config.h"
#include "flash_image/hf/safetensors.h"

/* Put every tensor of the file into its slot of s, whose params are known. Other files of the model
 * may have filled slots already. A tensor that no computation needs is ignored, and any other
 * unknown name is refused. Errors: ERR_BAD_MODEL, ERR_UNSUPPORTED; s->error_message names the
 * tensor. */
enum err hf_place_tensors(struct source *s, struct hf_config *c, const struct safetensors *file);

/* Call this after all tensors are placed: it finds the output matrix, checks that no tensor is
 * missing, and refuses a tied output matrix that differs from the embedding. Errors: ERR_BAD_MODEL,
 * ERR_UNSUPPORTED. */
enum err hf_finish_tensors(struct source *s, struct hf_config *c);

#endif
