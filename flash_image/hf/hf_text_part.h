/* The text part of a model that was also trained on pictures. */
#ifndef INGOT_FLASH_IMAGE_HF_TEXT_PART_H
#define INGOT_FLASH_IMAGE_HF_TEXT_PART_H

#include "flash_image/hf/hf_json.h"
#include "flash_image/source/families.h"

/* Transformers' defaults for fields that a nested text part omits; 0: the field is required. */
struct hf_usual_sizes {
    enum ingot_family family;
    uint32_t dim, hidden, n_layers, n_heads, n_kv_heads, vocab, context, window;
};

struct hf_text_part {
    bool vision; /* the model handles pictures; their tensors are ignored */
    bool nested; /* the parameters are in "text_config" */
};

/* Look for "vision_config", "text_config" and the tokens of images. If the text part is nested,
 * j->object becomes that part. A note tells the user about the pictures. */
void hf_text_part_find(struct hf_json *j, struct hf_text_part *part);

/* The defaults for this family's text part; all 0 if the part is not nested or has no defaults. */
const struct hf_usual_sizes *hf_text_part_usual(const struct hf_text_part *part,
                                                const struct family *f);

/* Refuse a text part with ERR_UNSUPPORTED; the message names its architecture. */
enum err hf_text_part_refuse(struct hf_json *j);

/* The tensor's name without the prefix of the text part; NULL: the tensor is for pictures. */
const char *hf_text_part_tensor(const char *name);

#endif
