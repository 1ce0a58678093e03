#include "flash_image/hf/hf_window.h"

#include <string.h>

#include "runtime/text/plural.h"

/* Return the default window if config.json lacks the field; a null field means no window. */
static uint32_t usual_window(const struct hf_json *j, const struct family *f, uint32_t usual)
{
    static const struct {
        const char *family;
        uint32_t window;
    } windows[] = {
        { "mistral", 4096 }, { "gemma2", 4096 },  { "gemma3", 4096 },
        { "gpt_oss", 128 },  { "qwen2", 4096 },   { "qwen3", 4096 },
        { "olmo3", 4096 },   { "exaone4", 4096 }, { "qwen3_moe", 4096 },
    };

    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        bool named = cJSON_GetObjectItemCaseSensitive(j->object, "sliding_window") != NULL;

        if (strcmp(windows[i].family, f->name) == 0 && usual == 0 && !named) {
            return windows[i].window;
        }
    }
    return usual;
}

static bool is_type(const cJSON *entry, const char *type)
{
    return cJSON_IsString(entry) && strcmp(entry->valuestring, type) == 0;
}

/* Count the layers that the list makes local. Names that are not a kind of attention are
 * refused. */
static uint32_t count_local(struct hf_json *j, const cJSON *types)
{
    const struct source_params *p = &j->s->params;
    const cJSON *entry;
    uint32_t layer = 0, n = 0;

    cJSON_ArrayForEach(entry, types)
    {
        if (j->e == ERR_OK && !is_type(entry, "sliding_attention") &&
            !is_type(entry, "full_attention")) {
            j->e = source_refuse(j->s, ERR_UNSUPPORTED,
                                 "the field \"layer_types\" makes layer %u '%.40s', which cannot "
                                 "be packed",
                                 layer, cJSON_IsString(entry) ? entry->valuestring : "no text");
        }
        n += is_type(entry, "sliding_attention");
        layer++;
    }
    if (j->e == ERR_OK && layer != p->n_layers) {
        j->e = source_refuse(j->s, ERR_BAD_MODEL,
                             "the field \"layer_types\" has %u %s, the "
                             "model %u %s",
                             layer, plural(layer, "entry", "entries"), p->n_layers,
                             plural(p->n_layers, "layer", "layers"));
    }
    return n;
}

/* Make each layer local or global as the list says, in any pattern. */
static void set_types(struct hf_json *j, const struct family *f, const cJSON *types)
{
    struct source_params *p = &j->s->params;
    const cJSON *entry;
    uint32_t layer = 0;

    p->global_every = 0;
    cJSON_ArrayForEach(entry, types)
    {
        if (layer < INGOT_MAX_LAYERS) {
            p->layers[layer++].local = is_type(entry, "sliding_attention");
        }
    }
    family_set_rotations(p, f);
}

/* If a list has no local layers, drop the window, unless windows decide which layers rotate. */
static void read_types(struct hf_json *j, const struct family *f, const cJSON *types,
                       uint32_t window)
{
    uint32_t n = count_local(j, types);

    if (j->e != ERR_OK || (n == 0 && !family_has(f, FAMILY_LOCAL_ROPE))) {
        return;
    }
    j->e = family_set_window(j->s, f, window, f->global_every);
    if (j->e == ERR_OK && j->s->params.window != 0) {
        set_types(j, f, types);
    }
}

/* In Qwen models the layers from max_window_layers on are local; in Qwen3 with experts, all layers
 * are local. */
static void read_qwen(struct hf_json *j, const struct family *f, uint32_t window)
{
    uint32_t first = f->family == INGOT_QWEN3_MOE ? 0 : hf_json_u32(j, "max_window_layers", 28);
    struct source_params *p = &j->s->params;

    if (j->e != ERR_OK || first >= p->n_layers) {
        return;
    }
    j->e = family_set_window(j->s, f, window, 0);
    for (uint32_t i = 0; j->e == ERR_OK && i < min_u32(first, INGOT_MAX_LAYERS); i++) {
        p->layers[i].local = false;
    }
}

/* Read a period: a number, or a text ("LLLG") whose last letter is the global layer. */
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
    bool qwen = f->family == INGOT_QWEN2 || f->family == INGOT_QWEN3 ||
                f->family == INGOT_QWEN3_MOE;
    uint32_t window = hf_json_u32(j, "sliding_window", usual_window(j, f, usual));
    uint32_t every = read_period(j, f);

    if (!hf_json_bool(j, "use_sliding_window", !qwen)) {
        window = 0;
    }
    if (j->e != ERR_OK) {
        return;
    }
    if (types != NULL) {
        read_types(j, f, types, window);
    } else if (qwen) {
        read_qwen(j, f, window);
    } else if (every != 1) { /* if it is 1, every layer is global, and none has a window */
        j->e = family_set_window(j->s, f, window, every);
    }
}
