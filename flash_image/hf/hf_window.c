#include "flash_image/hf/hf_window.h"

#include <string.h>

#include "runtime/text/plural.h"

static bool is_local(const struct source_params *p, uint32_t layer)
{
    return p->window != 0 &&
           !(p->global_every != 0 && layer % p->global_every == p->global_every - 1);
}

/* Whether a layer's type agrees with params. Layers may be called local where no window counts. */
static bool is_layer_type(const struct source_params *p, uint32_t layer, const char *type,
                          uint32_t window)
{
    bool no_window = (window == 0 || window >= p->context) && p->window == 0;

    if (type == NULL) {
        return false;
    }
    if (strcmp(type, "sliding_attention") == 0) {
        return is_local(p, layer) || no_window;
    }
    return strcmp(type, "full_attention") == 0 && !is_local(p, layer);
}

static enum err refuse_layer_type(struct source *s, uint32_t layer, const char *type)
{
    if (type == NULL) {
        type = "no text";
    }
    return source_refuse(s, ERR_UNSUPPORTED,
                         "the field \"layer_types\" makes layer %u "
                         "'%.40s', which the pattern of the layers before does not allow",
                         layer, type);
}

static void check_layer_types(struct hf_json *j, const cJSON *types, uint32_t window)
{
    const struct source_params *p = &j->s->params;
    const cJSON *entry;
    uint32_t layer = 0;

    cJSON_ArrayForEach(entry, types)
    {
        const char *type = hf_json_string(entry);

        if (!is_layer_type(p, layer, type, window)) {
            j->e = refuse_layer_type(j->s, layer, type);
            return;
        }
        layer++;
    }
    if (layer != p->n_layers) {
        j->e = source_refuse(j->s, ERR_BAD_MODEL,
                             "the field \"layer_types\" has %u %s, the "
                             "model %u %s",
                             layer, plural(layer, "entry", "entries"), p->n_layers,
                             plural(p->n_layers, "layer", "layers"));
    }
}

/* In groups of how many layers the last one is global: the first global layer tells. 0: none is. */
static uint32_t global_every(const cJSON *types)
{
    const cJSON *type;
    uint32_t layer = 0;

    cJSON_ArrayForEach(type, types)
    {
        layer++;
        if (cJSON_IsString(type) && strcmp(type->valuestring, "full_attention") == 0) {
            return layer;
        }
    }
    return 0;
}

/* Qwen: layers from max_window_layers on are local, if any are. */
static uint32_t qwen_window(struct hf_json *j, uint32_t window)
{
    uint32_t first = hf_json_u32(j, "max_window_layers", 0);

    if (!hf_json_bool(j, "use_sliding_window", false) || first >= j->s->params.n_layers) {
        return 0;
    }
    if (first != 0 && j->e == ERR_OK) {
        j->e = source_refuse(j->s, ERR_UNSUPPORTED,
                             "the field \"max_window_layers\" is %u: a "
                             "window of only some layers cannot be packed",
                             first);
    }
    return window;
}

/* A number, or a text ("LLLG") whose last letter is the global layer. */
static uint32_t read_period(struct hf_json *j, const struct family *f)
{
    const char *text = hf_json_string(hf_json_get(j->object, "sliding_window_pattern"));

    if (text != NULL && strspn(text, "L") + 1 == strlen(text) && text[strlen(text) - 1] == 'G') {
        return (uint32_t)min_size(strlen(text), UINT16_MAX);
    }
    return hf_json_u32(j, "sliding_window_pattern",
                       hf_json_u32(j, "_sliding_window_pattern", f->global_every));
}

void hf_window_read(struct hf_json *j, const struct family *f, uint32_t usual)
{
    const cJSON *types = f->mixer != INGOT_MIXER_NONE ? NULL
                                                      : hf_json_get(j->object, "layer_types");
    uint32_t window = hf_json_u32(j, "sliding_window", usual);
    uint32_t every = read_period(j, f);

    if (types != NULL) {
        every = global_every(types);
    } else if (f->family == INGOT_QWEN2 || f->family == INGOT_QWEN3 ||
               f->family == INGOT_QWEN3_MOE) {
        window = qwen_window(j, window);
    }
    if (j->e == ERR_OK && every != 1) { /* every layer is global: none has a window */
        j->e = family_set_window(j->s, f, window, every);
    }
    if (j->e == ERR_OK && types != NULL) {
        check_layer_types(j, types, window);
    }
}
