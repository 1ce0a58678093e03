/* Tensors of a Hugging Face model by name. */
#ifndef INGOT_FLASH_IMAGE_HF_TENSORS_H
#define INGOT_FLASH_IMAGE_HF_TENSORS_H

#include "flash_image/hf/hf_config.h"
#include "flash_image/hf/safetensors.h"

/* Every tensor of the file into its slot of s, whose params are known; of another file of the
 * same model the slots are filled already. A tensor that no computation needs any more is ignored, any
 * other name is refused.
 * Errors: ERR_BAD_MODEL, ERR_UNSUPPORTED; s->error_message names the tensor. */
enum err hf_place_tensors(struct source *s, struct hf_config *c, const struct safetensors *file);

/* When all are placed: which matrix is the output, and whether everything is there; a tied pair
 * that differs is refused. Errors: ERR_BAD_MODEL, ERR_UNSUPPORTED. */
enum err hf_finish_tensors(struct source *s, struct hf_config *c);

#endif
