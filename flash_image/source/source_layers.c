#include "flash_image/source/source_layers.h"

#include <string.h>

/* Which of the ways to rotate a layer takes: they are numbered as they are needed. */
enum { FIRST_ROPE = 0, SECOND_ROPE = 1 };

static bool has(const struct source_params *p, enum source_feature feature)
{
    return (p->features & (uint32_t)feature) != 0;
}

static bool is_local(const struct source_params *p, uint32_t layer)
{
    bool last = p->global_every != 0 && layer % p->global_every == p->global_every - 1;

    return p->window != 0 && !last;
}

static bool has_global(const struct source_params *p)
{
    return p->window == 0 || (p->global_every != 0 && p->global_every <= p->n_layers);
}

static bool has_local(const struct source_params *p)
{
    return p->window != 0 && p->global_every != 1;
}

static uint32_t count_ropes(const struct source_params *p)
{
    if (p->rope == SOURCE_ROPE_NONE) {
        return 0;
    }
    return (uint32_t)has_global(p) + (uint32_t)has_local(p);
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
        .hidden = p->hidden,
        .n_heads = p->n_heads,
        .n_kv_heads = p->n_kv_heads,
        .head_dim = p->head_dim,
        .norm_eps = p->norm_eps,
        .final_softcap = p->final_softcap,
        .embedding_scale = p->embedding_scale,
        .logits_scale = 1.0f,
    };
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
        .dims = p->rope_dims,
        .base = local ? p->rope_base_local : p->rope_base,
        .magnitude = p->rope_magnitude,
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

static uint16_t rope_index(const struct source_params *p, bool local)
{
    if (p->rope == SOURCE_ROPE_NONE) {
        return INGOT_NO_ROPE;
    }
    return local && has_global(p) ? SECOND_ROPE : FIRST_ROPE;
}

static uint32_t features_of(const struct source_params *p)
{
    uint32_t features = 0;

    if (!has(p, SOURCE_UNGATED)) {
        features |= INGOT_GATED;
    }
    if (has(p, SOURCE_QK_NORM)) {
        features |= INGOT_QK_NORM;
    }
    return features;
}

void source_layer(const struct source_params *p, uint32_t layer, struct ingot_layer *out)
{
    bool local = is_local(p, layer);

    *out = (struct ingot_layer){
        .mixer = INGOT_MIXER_ATTENTION,
        .ffn = INGOT_FFN_DENSE,
        .norms = INGOT_NORM_BEFORE,
        .activation = has(p, SOURCE_GELU) ? INGOT_GELU : INGOT_SILU,
        .features = features_of(p),
        .n_heads = p->n_heads,
        .n_kv_heads = p->n_kv_heads,
        .head_dim = p->head_dim,
        .value_dim = p->head_dim,
        .hidden = p->hidden,
        .window = local ? p->window : 0,
        .rope = rope_index(p, local),
        .kv_layer = (uint16_t)layer,
        .attn_scale = p->attn_scale,
        .attn_softcap = p->attn_softcap,
        .residual_scale = 1.0f,
    };
    if (has(p, SOURCE_POST_NORMS)) {
        out->norms |= INGOT_NORM_AFTER;
    }
}
