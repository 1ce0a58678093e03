/* The meaning of tensors' names in Hugging Face models. */
#ifndef INGOT_FLASH_IMAGE_HF_NAMES_H
#define INGOT_FLASH_IMAGE_HF_NAMES_H

#include "flash_image/source/source.h"

enum hf_tensor_kind {
    HF_TRANSPOSED = 1 << 0,  /* in GPT-2 */
    HF_NORM = 1 << 1,        /* 1 + w in families that store w */
    HF_CONVOLUTION = 1 << 2, /* (channels, 1, taps) */
    HF_MINUS_EXP = 1 << 3,   /* the logarithm of what the image has, negated */
    HF_STACK = 1 << 4,       /* of all experts, one after the other */
    HF_EACH = 1 << 5,        /* of one expert */
    HF_ONE_ROW = 1 << 6,     /* a vector that lies as a matrix of one row */
    HF_BLOCKS = 1 << 7,      /* of all experts in MXFP4 */
    HF_BLOCK_SCALES = 1 << 8,
    HF_OUTPUT_SCALE = 1 << 9, /* of the layer, a number */
    HF_LATENT = 1 << 10,      /* of all heads' keys and values */
};

/* A name without "model.layers.N." or "transformer.h.N.", the role, and, where a tensor is
 * several in one, how many roles from there on. */
struct hf_name_rule {
    const char *name;
    enum ingot_role role;
    uint32_t parts;
    uint32_t kind;
};

/* NULL: none that is known. name: without what stands before the layers. *layer is INGOT_NO_LAYER
 * outside them; *expert counts with HF_EACH, and may be beyond all bounds. */
const struct hf_name_rule *hf_find_rule(const char *name, unsigned *layer, uint32_t *expert);

/* A constant that nothing needs. */
bool hf_is_needless(const char *name);

#endif
