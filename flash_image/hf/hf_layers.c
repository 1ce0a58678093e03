#include "flash_image/hf/hf_layers.h"

#include <math.h>
#include <string.h>

#include "flash_image/hf/hf_latent.h"
#include "flash_image/hf/hf_recurrent.h"

enum { DELTA_PERIOD = 4 };

static void refuse(struct hf_json *j, const char *field, const char *what)
{
    if (j->e == ERR_OK) {
        j->e = source_refuse(j->s, ERR_UNSUPPORTED, "the field \"%s\" %s", field, what);
    }
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static const char *pattern_of(const struct hf_json *j)
{
    return hf_json_string(hf_json_get(j->object, "hybrid_override_pattern"));
}

static const cJSON *types_of(const struct hf_json *j)
{
    const cJSON *types = hf_json_list(hf_json_get(j->object, "layer_types"));

    if (types == NULL) {
        types = hf_json_list(hf_json_get(j->object, "layers_block_type"));
    }
    return types;
}

uint32_t hf_layers_count(const struct hf_json *j)
{
    if (pattern_of(j) != NULL) {
        return (uint32_t)min_size(strlen(pattern_of(j)), INGOT_MAX_LAYERS + 1);
    }
    return types_of(j) == NULL ? 0 : (uint32_t)cJSON_GetArraySize(types_of(j));
}

uint32_t hf_layers_hidden(struct hf_json *j, const struct family *f, uint32_t hidden)
{
    float multiplier;
    uint32_t unit;

    if (f->family != INGOT_LFM2) {
        return hidden;
    }
    hidden = hf_json_u32(j, "block_ff_dim", hidden);
    multiplier = hf_json_float(j, "block_ffn_dim_multiplier", 1.0f);
    unit = hf_json_u32(j, "block_multiple_of", 256);
    if (!hf_json_bool(j, "block_auto_adjust_ff_dim", true) || hidden > INGOT_MAX_HIDDEN) {
        return hidden;
    }
    if (unit == 0 || unit > INGOT_MAX_HIDDEN || !(multiplier > 0.0f && multiplier < 100.0f)) {
        refuse(j, "block_multiple_of",
               "or \"block_ffn_dim_multiplier\" gives the feed-forward no possible width");
        return hidden;
    }
    hidden = (uint32_t)((double)multiplier * (2 * hidden / 3));
    return (hidden + unit - 1) / unit * unit;
}

/* ---- mixers ---------------------------------------------------------------------------------- */

static void set_layer(struct hf_json *j, const struct family *f, uint32_t layer, bool attends)
{
    struct source_layer_params *l = &j->s->params.layers[layer];

    if (!attends) {
        l->mixer = (uint8_t)f->mixer;
        l->n_kv_heads = 0;
        l->local = false;
    }
    if (family_has(f, FAMILY_ONE_BLOCK)) {
        l->ffn = INGOT_FFN_NONE;
    }
}

/* Leave only a feed-forward in the layer. */
static void set_feed_forward(struct hf_json *j, uint32_t layer)
{
    struct source_layer_params *l = &j->s->params.layers[layer];

    l->mixer = INGOT_MIXER_NONE;
    l->n_kv_heads = 0;
}

/* Read Nemotron-H's pattern: a letter for each layer. */
static void read_pattern(struct hf_json *j, const struct family *f, const char *pattern)
{
    if (strlen(pattern) != j->s->params.n_layers) {
        refuse(j, "hybrid_override_pattern", "does not have one letter for each layer");
    }
    for (uint32_t i = 0; j->e == ERR_OK && pattern[i] != '\0'; i++) {
        if (pattern[i] == '-' && family_has(f, FAMILY_ONE_BLOCK)) {
            set_feed_forward(j, i);
        } else if (pattern[i] == '*' || pattern[i] == 'M') {
            set_layer(j, f, i, pattern[i] == '*');
        } else {
            refuse(j, "hybrid_override_pattern",
                   "has a letter other than M, * and -: such a model cannot be packed");
        }
    }
}

/* True if a family with Mamba2 calls a layer "linear_attention". Transformers now gives this name
 * to Mamba2, too, not only to gated delta nets. */
static bool is_recurrent(const struct family *f, const char *type)
{
    return f->mixer == INGOT_MIXER_MAMBA2 && strcmp(type, "linear_attention") == 0;
}

static void set_type(struct hf_json *j, const struct family *f, uint32_t layer, const char *type)
{
    static const char *const others[] = {
        [INGOT_MIXER_DELTA] = "linear_attention",
        [INGOT_MIXER_SHORTCONV] = "conv",
        [INGOT_MIXER_MAMBA2] = "mamba",
    };

    if (type != NULL && (strcmp(type, "full_attention") == 0 || strcmp(type, "attention") == 0)) {
        set_layer(j, f, layer, true);
    } else if (type != NULL && (strcmp(type, others[f->mixer]) == 0 || is_recurrent(f, type))) {
        set_layer(j, f, layer, false);
    } else if (type != NULL && strcmp(type, "mlp") == 0 && family_has(f, FAMILY_ONE_BLOCK)) {
        set_feed_forward(j, layer);
    } else if (j->e == ERR_OK) {
        j->e = source_refuse(j->s, ERR_UNSUPPORTED,
                             "the field \"layer_types\" makes layer %u '%.40s', which the family "
                             "%s does not have",
                             layer, type == NULL ? "no text" : type, f->name);
    }
}

static void read_types(struct hf_json *j, const struct family *f, const cJSON *types)
{
    const cJSON *type;
    uint32_t layer = 0;

    if ((uint32_t)cJSON_GetArraySize(types) != j->s->params.n_layers) {
        refuse(j, "layer_types", "does not have one entry for each layer");
        return;
    }
    cJSON_ArrayForEach(type, types)
    {
        set_type(j, f, layer++, hf_json_string(type));
    }
}

/* Read the list of LFM2's first models: the numbers of the layers with attention. */
static void read_indices(struct hf_json *j, const struct family *f, const cJSON *indices)
{
    const struct source_params *p = &j->s->params;
    const cJSON *index;

    for (uint32_t i = 0; i < p->n_layers; i++) {
        bool attends = false;

        cJSON_ArrayForEach(index, indices)
        {
            attends = attends || (cJSON_IsNumber(index) && index->valuedouble == i);
        }
        set_layer(j, f, i, attends);
    }
}

static void read_period(struct hf_json *j, const struct family *f)
{
    uint32_t every = hf_json_u32(j, "full_attention_interval", DELTA_PERIOD);

    if (every == 0) {
        refuse(j, "full_attention_interval", "is 0, must be at least 1");
        return;
    }
    for (uint32_t i = 0; i < j->s->params.n_layers; i++) {
        set_layer(j, f, i, i % every == every - 1);
    }
}

static void read_kinds(struct hf_json *j, const struct family *f)
{
    const cJSON *indices = hf_json_list(hf_json_get(j->object, "full_attn_idxs"));

    if (pattern_of(j) != NULL) {
        read_pattern(j, f, pattern_of(j));
    } else if (types_of(j) != NULL) {
        read_types(j, f, types_of(j));
    } else if (indices != NULL) {
        read_indices(j, f, indices);
    } else if (f->mixer == INGOT_MIXER_DELTA) {
        read_period(j, f);
    } else {
        refuse(j, "layer_types", "is missing, so the layers with attention are unknown");
    }
}

/* Read SmolLM3's list: 1 for each layer that rotates, 0 for each that does not. */
static void read_rotations(struct hf_json *j)
{
    const cJSON *list = hf_json_list(hf_json_get(j->object, "no_rope_layers")), *rotates;
    struct source_params *p = &j->s->params;
    uint32_t layer = 0, every = hf_json_u32(j, "no_rope_layer_interval", 0);

    for (uint32_t i = 0; every != 0 && i < p->n_layers; i++) {
        p->layers[i].no_rope = i % every == every - 1;
    }
    if (list == NULL || cJSON_GetArraySize(list) == 0) {
        return;
    }
    if ((uint32_t)cJSON_GetArraySize(list) != p->n_layers) {
        refuse(j, "no_rope_layers", "does not have one entry for each layer");
        return;
    }
    cJSON_ArrayForEach(rotates, list)
    {
        p->layers[layer++].no_rope = !(cJSON_IsNumber(rotates) && rotates->valuedouble == 1.0);
    }
}

/* Give every layer a second mixer, which has the same input as attention. */
static void set_parallel(struct source_params *p, const struct family *f)
{
    for (uint32_t i = 0; i < p->n_layers; i++) {
        p->layers[i].parallel = (uint8_t)f->mixer;
    }
}

void hf_layers_read_mixers(struct hf_json *j, const struct family *f)
{
    struct source_params *p = &j->s->params;

    if (j->e != ERR_OK || p->n_layers > INGOT_MAX_LAYERS) {
        return; /* too many layers are refused later */
    }
    if (f->no_rope_every != 0) {
        read_rotations(j);
    }
    if (f->mixer == INGOT_MIXER_NONE) {
        return;
    }
    if (family_has(f, FAMILY_PARALLEL)) {
        set_parallel(p, f);
        hf_recurrent_read(j, f);
        return;
    }
    if (f->family == INGOT_GRANITE_HYBRID &&
        !hf_json_is(j->object, "position_embedding_type", "rope")) {
        p->rope = SOURCE_ROPE_NONE;
    }
    read_kinds(j, f);
    hf_recurrent_read(j, f);
}

/* ---- experts --------------------------------------------------------------------------------- */

static uint32_t shared_width(struct hf_json *j)
{
    uint32_t several = hf_latent_shared_width(j);

    return hf_json_u32(j, "shared_intermediate_size",
                       hf_json_u32(j, "shared_expert_intermediate_size", several));
}

static bool is_listed(const cJSON *list, uint32_t layer)
{
    const cJSON *entry;

    cJSON_ArrayForEach(entry, list)
    {
        if (cJSON_IsNumber(entry) && entry->valuedouble == layer) {
            return true;
        }
    }
    return false;
}

static void set_experts(struct hf_json *j)
{
    struct source_params *p = &j->s->params;
    const cJSON *dense = hf_json_list(hf_json_get(j->object, "mlp_only_layers"));
    uint32_t step = hf_json_u32(j, "decoder_sparse_step", 1);
    uint32_t dense_layers = hf_json_u32(j, "first_k_dense_replace", 0);
    uint32_t first = hf_json_u32(j, "num_dense_layers", dense_layers), shared = shared_width(j);

    if (step == 0) {
        refuse(j, "decoder_sparse_step", "is 0, must be at least 1");
        return;
    }
    for (uint32_t i = first; i < min_u32(p->n_layers, INGOT_MAX_LAYERS); i++) {
        if ((i + 1) % step == 0 && !is_listed(dense, i)) {
            p->layers[i].ffn = INGOT_FFN_EXPERTS;
            p->layers[i].hidden = shared;
        }
    }
}

static void read_router(struct hf_json *j, const struct family *f)
{
    struct source_params *p = &j->s->params;
    bool usual = (f->features & SOURCE_RENORMALIZE) != 0 && f->family != INGOT_QWEN3_MOE;

    p->experts.scale = hf_json_float(j, "routed_scaling_factor", 1.0f);
    if (family_has(f, FAMILY_FREE_ROUTER)) {
        hf_latent_read_router(j, f);
    }
    if (p->experts.router == INGOT_ROUTER_SOFTMAX_CHOSEN) {
        return; /* the chosen experts' weights always sum to 1 */
    }
    p->features &= ~(uint32_t)SOURCE_RENORMALIZE;
    if (hf_json_bool(j, "norm_topk_prob", usual)) {
        p->features |= SOURCE_RENORMALIZE;
    }
}

static void check_limit(struct hf_json *j)
{
    if ((j->s->params.features & SOURCE_SWIGLU_OAI) != 0 &&
        hf_json_float(j, "swiglu_limit", 7.0f) != 7.0f) {
        refuse(j, "swiglu_limit", "is not 7, the only value that can be packed");
    }
}

void hf_layers_read_experts(struct hf_json *j, const struct family *f)
{
    struct source_params *p = &j->s->params;
    uint32_t n;

    if (!family_has(f, FAMILY_EXPERTS) || j->e != ERR_OK) {
        return;
    }
    n = hf_json_u32(j, "n_routed_experts", 0);
    n = hf_json_u32(j, "num_experts", hf_json_u32(j, "num_local_experts", n));
    if (n == 0) { /* Granite 4 without experts: the shared dense part is the whole feed-forward */
        for (uint32_t i = 0; i < min_u32(p->n_layers, INGOT_MAX_LAYERS); i++) {
            p->layers[i].hidden = shared_width(j) != 0 ? shared_width(j) : p->layers[i].hidden;
        }
        return;
    }
    p->experts.n = n;
    p->experts.used = hf_json_u32(j, "num_experts_per_tok", HF_NEEDED);
    p->experts.hidden = hf_json_u32(j, "moe_intermediate_size", p->hidden);
    read_router(j, f);
    set_experts(j);
    check_limit(j);
}
