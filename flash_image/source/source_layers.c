#include "flash_image/source/source_layers.h"

#include <string.h>

#include "runtime/image/image.h"

/* Rope 0 is the rope of the global layers or, if there are none, the rope of the local layers. */
enum { FIRST_ROPE = 0, SECOND_ROPE = 1 };

static bool has(const struct source_params *p, enum source_feature feature)
{
    return (p->features & (uint32_t)feature) != 0;
}

static bool attends(const struct source_params *p, uint32_t layer)
{
    return p->layers[layer].mixer == INGOT_MIXER_ATTENTION;
}

/* True if at least one layer rotates among the local layers or, if !local, among the others. */
static bool has_rotation(const struct source_params *p, bool local)
{
    for (uint32_t i = 0; i < min_u32(p->n_layers, INGOT_MAX_LAYERS); i++) {
        if (attends(p, i) && !p->layers[i].no_rope && p->layers[i].local == local) {
            return true;
        }
    }
    return false;
}

static bool has_global(const struct source_params *p)
{
    return has_rotation(p, false);
}

static bool has_local(const struct source_params *p)
{
    return has_rotation(p, true);
}

static uint32_t count_ropes(const struct source_params *p)
{
    if (p->rope == SOURCE_ROPE_NONE) {
        return 0;
    }
    return (uint32_t)has_global(p) + (uint32_t)has_local(p);
}

/* Set the sizes of the widest layer, from which memory is planned. */
static void set_widest(const struct source_params *p, struct ingot_params *model)
{
    model->n_heads = model->n_kv_heads = model->head_dim = 0;
    model->hidden = image_mtp_inputs(model);
    for (uint32_t i = 0; i < min_u32(p->n_layers, INGOT_MAX_LAYERS); i++) {
        struct ingot_layer l;

        source_layer(p, i, &l);
        model->hidden = max_u32(model->hidden, max_u32(l.hidden, l.expert_hidden));
        model->n_heads = max_u32(model->n_heads, l.n_heads);
        model->n_kv_heads = max_u32(model->n_kv_heads, l.n_kv_heads);
        model->head_dim = max_u32(model->head_dim, l.head_dim);
    }
}

void source_model(const struct source_params *p, struct ingot_params *model)
{
    *model = (struct ingot_params){
        .family = p->family,
        .dim = p->dim,
        .n_layers = p->n_layers,
        .vocab = p->vocab,
        .context = p->context,
        .tied = p->tied,
        .norm = has(p, SOURCE_LAYER_NORM) ? INGOT_NORM_LAYER : INGOT_NORM_RMS,
        .n_ropes = count_ropes(p),
        .norm_eps = p->norm_eps,
        .final_softcap = p->final_softcap,
        .embedding_scale = p->embedding_scale,
        .logits_scale = p->logits_scale,
        .per_layer_dim = p->per_layer_dim,
        .mtp = p->mtp,
        .target_dim = p->target_dim,
    };
    set_widest(p, model);
}

static uint32_t local_dims(const struct source_params *p)
{
    return p->rope_dims_local != 0 ? p->rope_dims_local : p->rope_dims;
}

static uint32_t factors_of(const struct source *s, enum source_rope_set set)
{
    return s->rope == NULL ? INGOT_NO_FACTORS : (uint32_t)set * (s->params.rope_dims / 2);
}

static struct ingot_rope rope_of(const struct source *s, bool local)
{
    const struct source_params *p = &s->params;
    struct ingot_rope rope = {
        .kind = p->rope,
        .dims = local ? local_dims(p) : p->rope_dims,
        .base = local ? p->rope_base_local : p->rope_base,
        .magnitude = local && p->rope_local_plain ? 1.0f : p->rope_magnitude,
        .factors = factors_of(s, local ? SOURCE_ROPE_LOCAL : SOURCE_ROPE_GLOBAL),
        .long_factors = INGOT_NO_FACTORS,
    };

    if (!local && p->rope_context != 0 && s->rope != NULL) {
        rope.long_context = p->rope_context;
        rope.long_factors = factors_of(s, SOURCE_ROPE_LONG);
    }
    return rope;
}

uint32_t source_ropes(const struct source *s, struct ingot_rope ropes[INGOT_MAX_ROPES])
{
    const struct source_params *p = &s->params;
    uint32_t n = count_ropes(p);

    memset(ropes, 0, INGOT_MAX_ROPES * sizeof ropes[0]);
    if (n >= 1) {
        ropes[FIRST_ROPE] = rope_of(s, !has_global(p));
    }
    if (n == 2) {
        ropes[SECOND_ROPE] = rope_of(s, true);
    }
    return n;
}

static uint16_t rope_index(const struct source_params *p, const struct source_layer_params *l)
{
    if (p->rope == SOURCE_ROPE_NONE || l->no_rope) {
        return INGOT_NO_ROPE;
    }
    return l->local && has_global(p) ? SECOND_ROPE : FIRST_ROPE;
}

static uint32_t attention_features(const struct source_params *p, uint32_t number)
{
    static const struct {
        enum source_feature from;
        enum ingot_feature to;
    } map[] = {
        { SOURCE_QK_NORM, INGOT_QK_NORM },
        { SOURCE_QK_NORM_WIDE, INGOT_QK_NORM_WIDE },
        { SOURCE_QK_NORM_LATE, INGOT_QK_NORM_LATE },
        { SOURCE_V_NORM, INGOT_V_NORM },
    };
    const struct source_layer_params *l = &p->layers[number];
    uint32_t features = 0;

    for (size_t i = 0; i < sizeof map / sizeof map[0]; i++) {
        features |= has(p, map[i].from) ? (uint32_t)map[i].to : 0;
    }
    if (l->v_is_k) {
        features |= INGOT_V_IS_K;
    }
    if (l->kv_layer != number || p->target_dim != 0) {
        features |= INGOT_SHARED_KV;
    }
    return features;
}

/* Set the fields of latent keys, one key for all heads: see source_latent_params. */
static void set_latent(const struct source_params *p, struct ingot_layer *out)
{
    if (p->latent.kv_rank == 0) {
        return;
    }
    out->features |= INGOT_LATENT_KV;
    out->n_kv_heads = 1;
    out->kv_rank = p->latent.kv_rank;
    out->q_rank = p->latent.q_rank;
    out->query_dim = p->latent.query_dim;
    out->value_dim = p->latent.value_dim;
}

static void set_attention(const struct source_params *p, uint32_t number, struct ingot_layer *out)
{
    const struct source_layer_params *l = &p->layers[number];

    out->features |= attention_features(p, number);
    out->n_heads = p->n_heads;
    out->n_kv_heads = l->n_kv_heads;
    out->head_dim = l->local && p->head_dim_local != 0 ? p->head_dim_local : p->head_dim;
    out->value_dim = out->head_dim;
    out->window = l->local ? p->window : 0;
    out->rope = rope_index(p, l);
    out->kv_layer = l->kv_layer;
    out->attn_scale = p->attn_scale;
    out->attn_softcap = p->attn_softcap;
    set_latent(p, out);
}

static void set_recurrent(const struct source_params *p, unsigned kind, struct ingot_layer *out)
{
    out->conv_taps = (uint8_t)min_u32(p->recurrent.conv_taps, UINT8_MAX);
    out->inner_dim = p->recurrent.inner_dim;
    if (kind == INGOT_MIXER_SHORTCONV) {
        return;
    }
    out->n_groups = p->recurrent.n_groups;
    out->inner_heads = p->recurrent.inner_heads;
    out->state_dim = p->recurrent.state_dim;
    if (kind == INGOT_MIXER_DELTA && has(p, SOURCE_TILED_GROUPS)) {
        out->features |= INGOT_TILED_GROUPS;
    }
}

static bool is_recurrent(unsigned kind)
{
    return kind != INGOT_MIXER_NONE && kind != INGOT_MIXER_ATTENTION;
}

static enum ingot_activation activation_of(const struct source_params *p)
{
    if (has(p, SOURCE_GELU)) {
        return INGOT_GELU;
    }
    if (has(p, SOURCE_RELU2)) {
        return INGOT_RELU2;
    }
    return has(p, SOURCE_SWIGLU_OAI) ? INGOT_SWIGLU_OAI : INGOT_SILU;
}

static void set_ffn(const struct source_params *p, const struct source_layer_params *l,
                    struct ingot_layer *out)
{
    if (l->ffn == INGOT_FFN_NONE) {
        return;
    }
    out->hidden = l->hidden;
    out->activation = (uint8_t)activation_of(p);
    if (!has(p, SOURCE_UNGATED)) {
        out->features |= INGOT_GATED;
    }
    if (l->ffn != INGOT_FFN_EXPERTS) {
        return;
    }
    out->n_experts = p->experts.n;
    out->n_experts_used = p->experts.used;
    out->expert_hidden = p->experts.hidden;
    out->router = (uint8_t)p->experts.router;
    out->expert_scale = p->experts.scale;
    out->expert_groups = p->experts.groups;
    out->expert_groups_used = p->experts.groups_used;
    if (has(p, SOURCE_RENORMALIZE)) {
        out->features |= INGOT_RENORMALIZE;
    }
    if (p->experts.groups != 0 && p->experts.router == INGOT_ROUTER_SIGMOID) {
        out->features |= INGOT_GROUPS_BY_TWO; /* as in DeepSeek-V3, not in V2 */
    }
}

void source_layer(const struct source_params *p, uint32_t layer, struct ingot_layer *out)
{
    const struct source_layer_params *l = &p->layers[layer];

    *out = (struct ingot_layer){
        .mixer = l->mixer,
        .parallel = l->parallel,
        .ffn = l->ffn,
        .norms = has(p, SOURCE_NO_NORM_BEFORE) ? 0 : INGOT_NORM_BEFORE,
        .rope = INGOT_NO_ROPE,
        .residual_scale = p->residual_scale,
        .output_scale = l->output_scale,
    };
    if (has(p, SOURCE_POST_NORMS)) {
        out->norms |= INGOT_NORM_AFTER;
    }
    if (l->mixer == INGOT_MIXER_ATTENTION) {
        set_attention(p, layer, out);
    }
    if (is_recurrent(l->mixer)) {
        set_recurrent(p, l->mixer, out);
    }
    if (is_recurrent(l->parallel)) {
        set_recurrent(p, l->parallel, out);
    }
    set_ffn(p, l, out);
}

bool source_share_keys(struct source_params *p, uint32_t n, uint32_t *layer)
{
    uint32_t first = p->n_layers - n;

    for (uint32_t i = first; i < p->n_layers; i++) {
        uint32_t from = first;

        while (from > 0 && p->layers[from - 1].local != p->layers[i].local) {
            from--;
        }
        if (from == 0) {
            *layer = i;
            return false;
        }
        p->layers[i].kv_layer = (uint16_t)(from - 1);
    }
    return true;
}
