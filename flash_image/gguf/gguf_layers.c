/* Finds the kind of each layer of a GGUF whose layers differ, from a list with a number for each
 * layer, from a period, or from the family. */
#include "flash_image/gguf/gguf_private.h"
#include "flash_image/source/source_layers.h"

static const struct gguf_value *list_of(const struct gguf *g, enum gguf_number which)
{
    return which == N_KV_HEADS ? &g->kv_heads : &g->hiddens;
}

static enum err check_list(struct gguf *g, enum gguf_number which)
{
    const struct gguf_value *list = list_of(g, which);

    if (list->type == VALUE_ARRAY && list->count != g->n_blocks) {
        return source_refuse(g->s, ERR_BAD_MODEL, "%.*s%s lists %llu numbers for %u layers",
                             GGUF_SHOW_KEY(g, gguf_number_name(which)),
                             (unsigned long long)list->count, g->n_blocks);
    }
    return ERR_OK;
}

uint64_t gguf_layer_number(const struct gguf *g, enum gguf_number which, uint32_t layer)
{
    const struct gguf_value *list = list_of(g, which);
    uint64_t n = 0;

    if (list->type != VALUE_ARRAY) {
        return gguf_number_or(g, which, g->number[N_HEADS]);
    }
    (void)gguf_value_element(list, g->first_block + layer, &n);
    return n;
}

/* Check the list of Qwen3.5's recurrent layers: true or false for each layer. Blocks that guess
 * further tokens may be missing from the list. */
static enum err check_recurrent(struct gguf *g)
{
    static const char key[] = ".attention.recurrent_layers";
    const struct gguf_value *list = &g->recurrent;
    uint32_t n = g->s->params.n_layers;
    uint64_t value = 0;
    bool fine = list->type == VALUE_ARRAY && (list->count == g->n_blocks || list->count == n);

    if (list->data.data == NULL || g->s->wants_mtp) {
        return ERR_OK;
    }
    for (uint32_t i = 0; fine && i < n; i++) {
        fine = gguf_value_element(list, i, &value) && value <= 1;
    }
    if (!fine) {
        return source_refuse(g->s, ERR_BAD_MODEL,
                             "%.*s%s is not a list with true or false for each of %u layers",
                             GGUF_SHOW_KEY(g, key), n);
    }
    return ERR_OK;
}

/* True if a layer of a family with a second mixer has attention. Depending on the family and the
 * file, a list says so, or every n-th layer has it, or every layer with key heads has it. */
static bool attends(const struct gguf *g, uint32_t layer)
{
    uint64_t every = gguf_number_or(g, N_ATTENTION_EVERY, 4), recurrent = 0;

    if (g->recurrent.data.data != NULL && !g->s->wants_mtp) {
        return gguf_value_element(&g->recurrent, layer, &recurrent) && recurrent == 0;
    }
    if (g->family->mixer == INGOT_MIXER_DELTA) {
        return g->s->wants_mtp || layer % every == every - 1; /* an MTP head always has attention */
    }
    return gguf_layer_number(g, N_KV_HEADS, layer) != 0;
}

/* A layer without attention has the family's other mixer; in families with one block per layer it
 * may have none. */
static void set_mixer(const struct gguf *g, uint32_t number)
{
    struct source_layer_params *l = &g->s->params.layers[number];

    if (family_has(g->family, FAMILY_PARALLEL)) {
        l->parallel = (uint8_t)g->family->mixer;
    } else if (g->family->mixer != INGOT_MIXER_NONE && !attends(g, number)) {
        l->mixer = (uint8_t)g->family->mixer;
    }
    if (family_has(g->family, FAMILY_ONE_BLOCK)) {
        if (l->hidden != 0) {
            l->mixer = INGOT_MIXER_NONE;
        } else {
            l->ffn = INGOT_FFN_NONE;
        }
    }
    if (l->mixer != INGOT_MIXER_ATTENTION) {
        l->n_kv_heads = 0;
        l->local = false;
    }
}

/* Let the last n layers use the keys of the last layer before these n that has the same window. */
static enum err share_keys(struct gguf *g, uint64_t n)
{
    struct source_params *p = &g->s->params;
    uint32_t layer;

    if (n >= p->n_layers) {
        return source_refuse(g->s, ERR_BAD_MODEL, "%.*s%s is %llu, of %u layers",
                             GGUF_SHOW_KEY(g, gguf_number_name(N_SHARED_KV)), (unsigned long long)n,
                             p->n_layers);
    }
    if (source_share_keys(p, (uint32_t)n, &layer)) {
        return ERR_OK;
    }
    return source_refuse(g->s, ERR_BAD_MODEL,
                         "layer %u has no keys, and no layer before %u has keys that it could use",
                         layer, p->n_layers - (uint32_t)n);
}

enum err gguf_read_layers(struct gguf *g)
{
    struct source_params *p = &g->s->params;
    enum err e = check_list(g, N_KV_HEADS);

    if (e == ERR_OK) {
        e = check_list(g, N_HIDDEN);
    }
    if (e == ERR_OK) {
        e = check_recurrent(g);
    }
    if (e != ERR_OK) {
        return e;
    }
    if (g->has_number[N_ATTENTION_EVERY] && g->number[N_ATTENTION_EVERY] == 0) {
        return source_refuse(g->s, ERR_BAD_MODEL, "%.*s%s is 0, must be at least 1",
                             GGUF_SHOW_KEY(g, gguf_number_name(N_ATTENTION_EVERY)));
    }
    for (uint32_t i = 0; i < min_u32(p->n_layers, INGOT_MAX_LAYERS); i++) {
        p->layers[i].n_kv_heads = gguf_narrow(gguf_layer_number(g, N_KV_HEADS, i));
        if (g->hiddens.type == VALUE_ARRAY) {
            p->layers[i].hidden = gguf_narrow(gguf_layer_number(g, N_HIDDEN, i));
        }
        set_mixer(g, i);
    }
    if (p->n_layers > INGOT_MAX_LAYERS || p->target_dim != 0 ||
        gguf_number_or(g, N_SHARED_KV, 0) == 0) {
        return ERR_OK;
    }
    return share_keys(g, g->number[N_SHARED_KV]);
}

void gguf_read_recurrent(struct gguf *g)
{
    struct source_params *p = &g->s->params;

    if (g->family->mixer == INGOT_MIXER_SHORTCONV) {
        p->recurrent.conv_taps = gguf_narrow(gguf_number_or(g, N_SHORTCONV_TAPS, 0));
        p->recurrent.inner_dim = p->dim;
        return;
    }
    p->recurrent.conv_taps = gguf_narrow(gguf_number_or(g, N_CONV_TAPS, 0));
    p->recurrent.state_dim = gguf_narrow(gguf_number_or(g, N_STATE_DIM, 0));
    p->recurrent.n_groups = gguf_narrow(gguf_number_or(g, N_GROUPS, 0));
    p->recurrent.inner_heads = gguf_narrow(gguf_number_or(g, N_INNER_HEADS, 0));
    p->recurrent.inner_dim = gguf_narrow(gguf_number_or(g, N_INNER_DIM, 0));
}
