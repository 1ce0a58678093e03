/* Weights that are quantized in the folder: experts in MXFP4 (gpt-oss), ternary matrices
 * (BitNet), and their fields in config.json. F8 is in hf_f8.h. */
#ifndef INGOT_FLASH_IMAGE_HF_QUANTIZED_H
#define INGOT_FLASH_IMAGE_HF_QUANTIZED_H

#include "flash_image/hf/hf_config.h"
#include "flash_image/hf/hf_json.h"
#include "flash_image/hf/hf_stacks.h"

/* Read "quantization_config" of the whole model into c; refuse a method that the family does not
 * support. */
void hf_quantized_read(struct hf_json *j, struct hf_config *c);

/* Place the elements of all experts (HF_BLOCKS), or their scales (HF_BLOCK_SCALES). Errors:
 * ERR_BAD_MODEL. */
enum err hf_place_mxfp4(struct source *s, const struct hf_placed *t);

/* Place a ternary matrix: each byte has elements of four rows. Errors: ERR_BAD_MODEL,
 * ERR_UNSUPPORTED (the model does not have such matrices). */
enum err hf_place_ternary(struct source *s, const struct hf_config *c, const struct hf_placed *t,
                          enum ingot_role role);

/* Turn "NAME.weight_scale" into "NAME.weight" in bare (bytes long); false: the name has another
 * form. */
bool hf_is_weight_scale(const struct hf_config *c, const char *name, char *bare, size_t bytes);

/* Add the scale of a ternary matrix, before or after the matrix itself. Errors: ERR_BAD_MODEL,
 * ERR_NO_SPACE. */
enum err hf_place_weight_scale(struct source *s, struct hf_config *c, const struct hf_placed *t,
                               enum ingot_role role);

/* After all tensors are read and have their shapes: check that each quantized tensor has its
 * scales. Errors: ERR_BAD_MODEL, ERR_NO_SPACE. */
enum err hf_finish_quantized(struct source *s, struct hf_config *c);

#endif
