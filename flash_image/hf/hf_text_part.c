#include "flash_image/hf/hf_text_part.h"

#include <string.h>

static const char *const vision_fields[] = {
    "vision_config",   "image_token_id",      "image_token_index",
    "vision_token_id", "mm_tokens_per_image",
};

/* Defaults of LlamaConfig, Gemma3TextConfig and Gemma4TextConfig. */
static const struct hf_usual_sizes usual[] = {
    { INGOT_LLAMA, 4096, 11008, 32, 32, 32, 32000, 2048, 0 },
    { INGOT_GEMMA3, 2304, 9216, 26, 8, 4, 262208, 131072, 4096 },
    { INGOT_GEMMA4, 2304, 9216, 30, 8, 4, 262144, 131072, 512 },
};

static const struct hf_usual_sizes none = { .window = 0 };

static const char *const prefixes[] = { "model.", "language_model.", "text_model.", "model." };

static const char *const of_pictures[] = {
    "vision_tower.",          "vision_model.", "vision_encoder.", "visual.",
    "multi_modal_projector.", "connector.",    "mm_projector.",   "image_newline",
    "vision_embed_tokens.",   "embed_vision.", "audio_tower.",    "embed_audio.",
};

static const char *skip(const char *text, const char *prefix)
{
    size_t n = strlen(prefix);

    if (strncmp(text, prefix, n) != 0) {
        return text;
    }
    return text + n;
}

const char *hf_text_part_tensor(const char *name)
{
    const char *bare = skip(name, "model.");

    for (size_t i = 0; i < sizeof of_pictures / sizeof of_pictures[0]; i++) {
        if (skip(bare, of_pictures[i]) != bare) {
            return NULL;
        }
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        name = skip(name, prefixes[i]);
    }
    return name;
}

static bool has_vision(const cJSON *root)
{
    for (size_t i = 0; i < sizeof vision_fields / sizeof vision_fields[0]; i++) {
        if (hf_json_get(root, vision_fields[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static const char *type_of(const cJSON *object)
{
    const char *type = hf_json_string(hf_json_get(object, "model_type"));

    if (type == NULL) {
        return "?";
    }
    return type;
}

void hf_text_part_find(struct hf_json *j, struct hf_text_part *part)
{
    const cJSON *root = j->object, *text = hf_json_get(root, "text_config");

    *part = (struct hf_text_part){ has_vision(root), cJSON_IsObject(text) };
    if (part->nested) {
        j->object = text;
    }
    if (part->vision) {
        source_note(j->s,
                    "this is the text part of a vision-language model (%.40s): it will see no "
                    "pictures",
                    type_of(root));
    }
}

const struct hf_usual_sizes *hf_text_part_usual(const struct hf_text_part *part,
                                                const struct family *f)
{
    bool known = part->nested ||
                 f->family == INGOT_GEMMA4; /* its model without a nested part has the same
                                               defaults */

    for (size_t i = 0; known && i < sizeof usual / sizeof usual[0]; i++) {
        if (usual[i].family == f->family) {
            return &usual[i];
        }
    }
    return &none;
}

enum err hf_text_part_refuse(struct hf_json *j)
{
    return source_refuse(j->s, ERR_UNSUPPORTED,
                         "a model of several parts, whose text part is of the architecture "
                         "'%.40s', which is not supported",
                         type_of(j->object));
}
