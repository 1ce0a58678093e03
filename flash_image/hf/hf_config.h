/* config.json: the parameters of a model. */
#ifndef INGOT_FLASH_IMAGE_HF_CONFIG_H
#define INGOT_FLASH_IMAGE_HF_CONFIG_H

#include "flash_image/source/families.h"

struct hf_memory;

/* Quantization of the weights: none, ternary with a weight_scale that multiplies or divides, floats
 * that become ternary, or F8. */
enum hf_quantized { HF_NOT_QUANTIZED, HF_TERNARY_TIMES, HF_TERNARY_OVER, HF_ROUNDED, HF_F8 };

enum { HF_SSM_PARTS = 5 };

/* Falcon-H1's factors, by which a block's input or result is multiplied. */
struct hf_multipliers {
    float attention_in, key, attention_out;
    float ssm_in, ssm[HF_SSM_PARTS], ssm_out; /* factors of z, x, B, C and dt */
    float gate, down;
};

struct hf_config {
    const struct family *family;
    bool tied_known;          /* config.json says whether the output matrix is the embedding */
    uint32_t n_more_layers;   /* layers in the files after the model's own; they are
                                 ignored */
    bool vision;              /* the model also handles pictures: their tensors are ignored */
    struct hf_memory *memory; /* memory for tensors that are computed before they are packed */
    enum hf_quantized quantized;
    bool activation_scales; /* the files have scales of activations, which are ignored */
    struct hf_multipliers multipliers;
    uint32_t tile_height, tile_width; /* HF_F8: rows and columns that share a scale; 0: no tiles */
    bool has_whole_scales; /* HF_F8: some matrices may have one scale, or one scale per row */
    float *weight_scales;  /* scales of ternary matrices by slot; 0: that matrix has no scale;
                           NULL: no matrix has a scale */
};

/* Fill s->params and s->rope. If the parameters cannot express a value, the error message names its
 * field. Errors: ERR_BAD_MODEL, ERR_UNSUPPORTED, ERR_NO_SPACE; s->error_message says why. */
enum err hf_config_read(struct source *s, const uint8_t *text, size_t bytes, struct hf_config *c);

/* Free the memory that was allocated for reading tensors: hf_stacks.h. */
void hf_config_free(struct hf_config *c);

#endif
