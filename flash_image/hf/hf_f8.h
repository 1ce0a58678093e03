/* Matrices of F8 (E4M3), as DeepSeek, Transformers, compressed-tensors and ModelOpt publish
 * them. A weight is its F8 value times the scale of the whole matrix, of its row, or of its tile.
 * The scales are a separate tensor, "weight_scale_inv" or "weight_scale"; both multiply the
 * weights, despite the "inv". */
#ifndef INGOT_FLASH_IMAGE_HF_F8_H
#define INGOT_FLASH_IMAGE_HF_F8_H

#include "flash_image/hf/hf_config.h"
#include "flash_image/hf/hf_json.h"
#include "flash_image/hf/hf_stacks.h"

/* Read "quantization_config" of a model in F8 into c; errors go to j->e. False: the model uses
 * another method. */
bool hf_f8_read_config(struct hf_json *j, struct hf_config *c, const cJSON *config);

/* Turn "NAME.weight_scale_inv" or "NAME.weight_scale" into "NAME.weight" in bare (bytes long);
 * false: the name has another form. */
bool hf_is_tile_scale(const struct hf_config *c, const char *name, char *bare, size_t bytes);

/* True for a tensor that does not change weights: scales of activations, keys or values, or zero
 * points that are all 0. */
bool hf_is_activation_scale(const struct hf_config *c, const struct safetensors_tensor *t,
                            const char *name);

/* Add the scales of a matrix, before or after the matrix itself. Errors: ERR_BAD_MODEL,
 * ERR_NO_SPACE. */
enum err hf_place_tile_scale(struct source *s, struct hf_config *c, const struct hf_placed *t,
                             enum ingot_role role);

/* Return the matrix's tiles, which are made on the first call; NULL: the matrix cannot be packed,
 * and s->error_message says why. */
const struct source_tiles *hf_tiles_of(struct source *s, struct hf_config *c,
                                       const struct hf_placed *t, enum ingot_role role);

/* Check, after all tensors are read, that each matrix of F8 has its scales. Errors:
 * ERR_BAD_MODEL. */
enum err hf_check_tiles(struct source *s, const struct hf_config *c);

#endif
