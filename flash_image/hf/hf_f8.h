/* Matrices of F8 (E4M3), as DeepSeek and others publish them: a scale for each tile, in a tensor of its
 * own that ends in "weight_scale_inv" and multiplies. */
#ifndef INGOT_FLASH_IMAGE_HF_F8_H
#define INGOT_FLASH_IMAGE_HF_F8_H

#include "flash_image/hf/hf_config.h"
#include "flash_image/hf/hf_stacks.h"

/* "NAME.weight_scale_inv" to "NAME.weight" in bare (bytes long); false: it is no such name. */
bool hf_is_tile_scale(const struct hf_config *c, const char *name, char *bare, size_t bytes);

/* The scales of a matrix, before it or after it. Errors: ERR_BAD_MODEL, ERR_NO_SPACE. */
enum err hf_place_tile_scale(struct source *s, struct hf_config *c, const struct hf_placed *t,
                             enum ingot_role role);

/* The matrix's tiles, once more or anew; NULL: it cannot be packed, and s->problem says why. */
const struct source_tiles *hf_tiles_of(struct source *s, struct hf_config *c,
                                       const struct hf_placed *t, enum ingot_role role);

/* When all tensors are there: each matrix of F8 has its scales. Errors: ERR_BAD_MODEL. */
enum err hf_check_tiles(struct source *s, const struct hf_config *c);

#endif
