/* Places tensors of experts, and computes tensors that are not stored as in the file. */
#ifndef INGOT_FLASH_IMAGE_HF_STACKS_H
#define INGOT_FLASH_IMAGE_HF_STACKS_H

#include "flash_image/hf/hf_config.h"
#include "flash_image/hf/hf_names.h"
#include "flash_image/hf/safetensors.h"

/* A tensor of the file, to be put into the slots that its rule names. */
struct hf_placed {
    const struct safetensors_tensor *from;
    const struct hf_name_rule *rule;
    unsigned layer;
    uint32_t expert; /* HF_EACH */
};

/* Allocate zeroed bytes that live as long as the model; NULL: out of memory, and s->error_message
 * says so. */
void *hf_take_memory(struct source *s, struct hf_memory **memory, size_t bytes);

/* Get the empty slot of a role; NULL: the tensor appears twice, and s->error_message says so. */
struct source_tensor *hf_take_slot(struct source *s, const char *name, enum ingot_role role,
                                   unsigned layer);

/* Multiply n rows of a float or ternary matrix, from row `first` on. Errors: ERR_NO_SPACE. */
enum err hf_scale_rows(struct source *s, struct hf_config *c, struct source_tensor *t,
                       uint32_t first, uint32_t n, float scale);

/* Place a tensor of all experts (HF_STACK). Errors: ERR_BAD_MODEL, ERR_UNSUPPORTED. */
enum err hf_place_stack(struct source *s, const struct hf_placed *t);

/* Place one expert's matrix (HF_EACH). Errors: those of hf_place_stack, and ERR_NO_SPACE. */
enum err hf_place_expert(struct source *s, struct hf_memory **memory, const struct hf_placed *t);

/* Return one expert's part of a slot, perhaps without a matrix yet; NULL: s->error_message says
 * why. */
struct source_tensor *hf_expert_part(struct source *s, struct hf_memory **memory,
                                     const struct hf_placed *t);

/* Check that every expert has its matrix, and that all have the same shape and type. Errors:
 * ERR_BAD_MODEL. */
enum err hf_check_experts(struct source *s);

/* Replace each element x of the vector *t by -exp(x) (HF_MINUS_EXP). Errors: ERR_BAD_MODEL,
 * ERR_NO_SPACE. */
enum err hf_minus_exp(struct source *s, struct hf_memory **memory, const char *name,
                      struct source_tensor *t);

#endif
