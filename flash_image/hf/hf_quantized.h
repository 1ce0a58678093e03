/* Weights that a folder has quantized: experts in MXFP4 (gpt-oss), ternary matrices (BitNet), and what
 * config.json says of them. F8 is hf_f8.h's. */
#ifndef INGOT_FLASH_IMAGE_HF_QUANTIZED_H
#define INGOT_FLASH_IMAGE_HF_QUANTIZED_H

#include "flash_image/hf/hf_config.h"
#include "flash_image/hf/hf_json.h"
#include "flash_image/hf/hf_stacks.h"

/* "quantization_config" of the whole model into c; one that the family cannot have is refused. */
void hf_quantized_read(struct hf_json *j, struct hf_config *c);

/* For HF_BLOCKS and HF_BLOCK_SCALES: all experts' elements, or their scales. Errors: ERR_BAD_MODEL. */
enum err hf_place_mxfp4(struct source *s, const struct hf_placed *t);

/* A matrix of bytes, four rows in each. Errors: ERR_BAD_MODEL, ERR_UNSUPPORTED (no such model). */
enum err hf_place_ternary(struct source *s, const struct hf_config *c, const struct hf_placed *t,
                          enum ingot_role role);

/* "NAME.weight_scale" to "NAME.weight" in bare (bytes long); false: it is no such name. */
bool hf_is_weight_scale(const struct hf_config *c, const char *name, char *bare, size_t bytes);

/* The scale of a ternary matrix, before it or after it. Errors: ERR_BAD_MODEL, ERR_NO_SPACE. */
enum err hf_place_weight_scale(struct source *s, struct hf_config *c, const struct hf_placed *t,
                               enum ingot_role role);

/* When all tensors are there and have their shapes: each has its scales. Errors: ERR_BAD_MODEL,
 * ERR_NO_SPACE. */
enum err hf_finish_quantized(struct source *s, struct hf_config *c);

#endif
