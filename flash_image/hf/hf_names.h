/* The meaning of tensors' names in Hugging Face models. */
#ifndef INGOT_FLASH_IMAGE_HF_NAMES_H
#define INGOT_FLASH_IMAGE_HF_NAMES_H

#include "flash_image/source/source.h"

enum hf_tensor_kind {
    HF_TRANSPOSED = 1 << 0,  /* the matrix is transposed, as in GPT-2 */
    HF_NORM = 1 << 1,        /* the image stores 1 + w for families whose files store w */
    HF_CONVOLUTION = 1 << 2, /* (channels, 1, taps) */
    HF_MINUS_EXP = 1 << 3,   /* the file stores log(-v) for a value v in the image */
    HF_STACK = 1 << 4,       /* one tensor with the matrices of all experts */
    HF_EACH = 1 << 5,        /* a matrix of one expert */
    HF_ONE_ROW = 1 << 6,     /* a vector that is stored as a matrix of one row */
    HF_BLOCKS = 1 << 7,      /* all experts in MXFP4 */
    HF_BLOCK_SCALES = 1 << 8,
    HF_OUTPUT_SCALE = 1 << 9, /* one number per layer */
    HF_LATENT = 1 << 10,      /* the matrix for keys and values of all heads */
};

/* A name without "model.layers.N." or "transformer.h.N.", its role, and the number of consecutive
 * roles that the tensor holds. */
struct hf_name_rule {
    const char *name;
    enum ingot_role role;
    uint32_t parts;
    uint32_t kind;
};

/* Find the rule of a name; names in layers begin with "layers.N." or "h.N.". NULL: unknown.
 * *layer is INGOT_NO_LAYER outside layers; *expert is set if the rule has HF_EACH, and may be out
 * of bounds. */
const struct hf_name_rule *hf_find_rule(const char *name, unsigned *layer, uint32_t *expert);

/* True for the name of a constant that no computation needs. */
bool hf_is_needless(const char *name);

#endif
