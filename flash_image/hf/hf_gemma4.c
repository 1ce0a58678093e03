#include "flash_image/hf/hf_gemma4.h"

#include "flash_image/source/source_layers.h"

/* For Gemma4TextConfig. */
enum { GLOBAL_HEAD_DIM = 512, PER_LAYER_DIM = 256 };

void hf_gemma4_read_widths(struct hf_json *j)
{
    struct source_params *p = &j->s->params;

    p->head_dim_local = p->head_dim;
    p->head_dim = hf_json_u32(j, "global_head_dim", GLOBAL_HEAD_DIM);
}

static void refuse(struct hf_json *j, enum err e, const char *field, const char *what)
{
    if (j->e == ERR_OK) {
        j->e = source_refuse(j->s, e, "the field \"%s\" %s", field, what);
    }
}

/* Let the last layers use keys of earlier layers. Their feed-forward may be twice as wide. */
static void share_keys(struct hf_json *j)
{
    struct source_params *p = &j->s->params;
    uint32_t n = hf_json_u32(j, "num_kv_shared_layers", 0), layer;
    bool wide = hf_json_bool(j, "use_double_wide_mlp", false);

    if (j->e != ERR_OK || n == 0) {
        return;
    }
    if (n >= p->n_layers || !source_share_keys(p, n, &layer)) {
        refuse(j, ERR_BAD_MODEL, "num_kv_shared_layers",
               "leaves a layer without keys that it could use");
        return;
    }
    for (uint32_t i = p->n_layers - n; wide && i < p->n_layers; i++) {
        p->layers[i].hidden = 2 * min_u32(p->layers[i].hidden, INGOT_MAX_HIDDEN);
    }
}

/* Read global layers, which may have their own number of key heads, and whose keys may also be the
 * values. */
static void read_global_layers(struct hf_json *j)
{
    struct source_params *p = &j->s->params;
    uint32_t heads = hf_json_u32(j, "num_global_key_value_heads", p->n_kv_heads);

    if (!hf_json_bool(j, "attention_k_eq_v", false)) {
        return;
    }
    for (uint32_t i = 0; i < p->n_layers; i++) {
        if (!p->layers[i].local) {
            p->layers[i].n_kv_heads = heads;
            p->layers[i].v_is_k = p->layers[i].kv_layer == i;
        }
    }
}

void hf_gemma4_read_layers(struct hf_json *j)
{
    struct source_params *p = &j->s->params;

    if (j->e != ERR_OK || p->n_layers == 0 || p->n_layers > INGOT_MAX_LAYERS) {
        return; /* refused by name later */
    }
    p->rope_dims_local = p->head_dim_local;
    p->layers[p->n_layers - 1].local = false; /* whatever the pattern says */
    p->per_layer_dim = hf_json_u32(j, "hidden_size_per_layer_input", PER_LAYER_DIM);
    if (p->per_layer_dim != 0 &&
        hf_json_u32(j, "vocab_size_per_layer_input", p->vocab) != p->vocab) {
        refuse(j, ERR_UNSUPPORTED, "vocab_size_per_layer_input",
               "differs from \"vocab_size\": such a model cannot be packed");
    }
    share_keys(j);
    read_global_layers(j);
}
