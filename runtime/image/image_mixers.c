/* Check the fields of mixers in the table of layers. Fields that a kind does not use must be
 * zero, but a program's own kinds may have any values within the bounds. */
#include "board/min_max.h"
#include "runtime/image/image_check.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static bool is_latent(const struct ingot_layer *l)
{
    return (l->features & INGOT_LATENT_KV) != 0;
}

static enum err check_rope(const struct image_checked *c)
{
    const struct ingot_layer *l = c->layer;

    if (l->rope == INGOT_NO_ROPE) {
        return ERR_OK;
    }
    if (l->rope >= c->params->n_ropes) {
        return REFUSE_LAYER(c, ERR_BAD_HEADER, "rope is %u, but there are %u", l->rope,
                            c->params->n_ropes);
    }
    if (is_latent(l) && c->ropes[l->rope].dims != l->head_dim - l->kv_rank) {
        return REFUSE_LAYER(c, ERR_BAD_HEADER,
                            "rope_dims is %u, must be head_dim %u less kv_rank %u",
                            c->ropes[l->rope].dims, l->head_dim, l->kv_rank);
    }
    if (c->ropes[l->rope].dims > l->head_dim) {
        return REFUSE_LAYER(c, ERR_BAD_HEADER, "rope_dims is %u, must be even and at most %u",
                            c->ropes[l->rope].dims, l->head_dim);
    }
    /* The table that rotates queries includes the scale of the scores. */
    for (uint32_t i = 0; i < c->number; i++) {
        const struct ingot_layer *other = &c->layers[i];

        if (other->rope == l->rope &&
            (other->attn_scale < l->attn_scale || other->attn_scale > l->attn_scale)) {
            return REFUSE_LAYER(c, ERR_BAD_HEADER, "attn_scale is not that of layer %u", i);
        }
    }
    return ERR_OK;
}

/* Shared keys and values must belong to an earlier layer with its own keys and values of the
 * same shape, so there are no cycles. An assistant uses only its model's keys and values. */
static enum err check_kv_layer(const struct image_checked *c)
{
    const struct ingot_layer *l = c->layer, *from;
    bool shares = (l->features & INGOT_SHARED_KV) != 0;

    if (!shares || c->params->target_dim != 0) {
        if (l->kv_layer != c->number || (!shares && c->params->target_dim != 0)) {
            return REFUSE_LAYER(c, ERR_BAD_HEADER, "kv_layer is %u, but the layer has its own keys",
                                l->kv_layer);
        }
        return ERR_OK;
    }
    if (l->kv_layer >= c->number) {
        return REFUSE_LAYER(c, ERR_BAD_HEADER, "kv_layer is %u, must be a layer before it",
                            l->kv_layer);
    }
    from = &c->layers[l->kv_layer];
    if (from->mixer != INGOT_MIXER_ATTENTION || (from->features & INGOT_SHARED_KV) != 0 ||
        from->n_kv_heads != l->n_kv_heads || from->head_dim != l->head_dim ||
        from->value_dim != l->value_dim) {
        return REFUSE_LAYER(c, ERR_BAD_HEADER,
                            "kv_layer is %u, which has no keys of its own in this shape",
                            l->kv_layer);
    }
    return ERR_OK;
}

/* Check latent keys: all heads have one key, and kv_rank numbers of it are also the value. A head's
 * rows in ATTN_K_B and ATTN_V_B must be whole groups, and a page of keys and values must have whole
 * sectors. */
static enum err check_latent(const struct image_checked *c)
{
    const struct ingot_layer *l = c->layer;
    const struct image_bound bounds[] = {
        { "n_kv_heads", l->n_kv_heads, 1, 1 },
        { "head_dim", l->head_dim, 2 * INGOT_INTERLEAVE, INGOT_MAX_LATENT },
        { "kv_rank", l->kv_rank, INGOT_INTERLEAVE, l->head_dim - 2 },
        { "query_dim", l->query_dim, l->head_dim - l->kv_rank + 1,
          min_u32(INGOT_MAX_DIM / l->n_heads, 8 * l->head_dim) },
        { "value_dim", l->value_dim, INGOT_INTERLEAVE, INGOT_MAX_DIM / l->n_heads },
        { "q_rank", l->q_rank, 0, INGOT_MAX_DIM },
        { "rope", l->rope, 0, INGOT_MAX_ROPES },
    };
    enum err e = image_layer_bounds(c, bounds, COUNT(bounds));

    if (e != ERR_OK) {
        return e;
    }
    if (l->kv_rank % INGOT_INTERLEAVE != 0 || l->value_dim % INGOT_INTERLEAVE != 0 ||
        l->head_dim % 4 != 0) {
        return REFUSE_LAYER(c, ERR_BAD_HEADER,
                            "kv_rank %u and value_dim %u must be multiples of %u, head_dim %u of 4",
                            l->kv_rank, l->value_dim, (unsigned)INGOT_INTERLEAVE, l->head_dim);
    }
    if ((l->features & INGOT_ATTENTION_FEATURES) != INGOT_LATENT_KV) {
        return REFUSE_LAYER(c, ERR_BAD_HEADER,
                            "features is %u, but latent keys allow no other bits", l->features);
    }
    return ERR_OK;
}

static enum err check_heads(const struct image_checked *c)
{
    const struct ingot_layer *l = c->layer;
    const struct image_bound bounds[] = {
        { "kv_rank", l->kv_rank, 0, 0 },
        { "q_rank", l->q_rank, 0, 0 },
        { "query_dim", l->query_dim, 0, 0 },
    };

    if (is_latent(l)) {
        return check_latent(c);
    }
    if (l->n_heads % l->n_kv_heads != 0) {
        return REFUSE_LAYER(c, ERR_BAD_HEADER, "n_kv_heads is %u, no divisor of n_heads %u",
                            l->n_kv_heads, l->n_heads);
    }
    if (l->head_dim < 2 || (l->head_dim % 2 != 0 && l->rope != INGOT_NO_ROPE) ||
        l->head_dim > INGOT_MAX_DIM / l->n_heads) {
        return REFUSE_LAYER(c, ERR_BAD_HEADER, "head_dim is %u, must be even and at most %u",
                            l->head_dim, INGOT_MAX_DIM / l->n_heads);
    }
    if (l->value_dim != l->head_dim) {
        return REFUSE_LAYER(c, ERR_UNSUPPORTED, "values are %u wide, but keys %u", l->value_dim,
                            l->head_dim);
    }
    if ((l->features & INGOT_QK_NORM) == 0 &&
        (l->features & (INGOT_QK_NORM_WIDE | INGOT_QK_NORM_LATE)) != 0) {
        return REFUSE_LAYER(c, ERR_BAD_HEADER, "features is %u, which needs the q/k norm",
                            l->features);
    }
    return image_layer_bounds(c, bounds, COUNT(bounds));
}

static enum err check_attention(const struct image_checked *c)
{
    const struct ingot_layer *l = c->layer;
    const struct image_bound bounds[] = {
        { "n_heads", l->n_heads, 1, INGOT_MAX_HEADS },
        { "n_kv_heads", l->n_kv_heads, 1, INGOT_MAX_HEADS },
        { "window", l->window, 0, INGOT_MAX_CONTEXT },
    };
    const struct image_range ranges[] = {
        { "attn_scale", l->attn_scale, 1e-6f, 1e3f },
        { "attn_softcap", l->attn_softcap, 0.0f, 1e6f },
    };
    enum err e = image_layer_bounds(c, bounds, COUNT(bounds));

    if (e == ERR_OK) {
        e = image_layer_ranges(c, ranges, COUNT(ranges));
    }
    if (e == ERR_OK) {
        e = check_heads(c);
    }
    if (e == ERR_OK) {
        e = check_kv_layer(c);
    }
    if (e != ERR_OK) {
        return e;
    }
    return check_rope(c);
}

enum err image_check_attention(const struct image_checked *c)
{
    const struct ingot_layer *l = c->layer;
    uint32_t most = l->mixer >= INGOT_MIXER_OWN;
    const struct image_bound bounds[] = {
        { "n_heads", l->n_heads, 0, most * INGOT_MAX_HEADS },
        { "n_kv_heads", l->n_kv_heads, 0, most * INGOT_MAX_HEADS },
        { "head_dim", l->head_dim, 0, most * c->params->head_dim },
        { "value_dim", l->value_dim, 0, most * c->params->head_dim },
        { "window", l->window, 0, most * INGOT_MAX_CONTEXT },
        { "rope", l->rope, INGOT_NO_ROPE, INGOT_NO_ROPE },
        { "kv_layer", l->kv_layer, 0, most * INGOT_MAX_LAYERS },
        { "kv_rank", l->kv_rank, 0, 0 },
        { "q_rank", l->q_rank, 0, 0 },
        { "query_dim", l->query_dim, 0, 0 },
        { "features", l->features & INGOT_ATTENTION_FEATURES, 0, 0 },
    };
    const struct image_range ranges[] = {
        { "attn_scale", l->attn_scale, 0.0f, (float)most * 1e3f },
        { "attn_softcap", l->attn_softcap, 0.0f, (float)most * 1e6f },
    };
    enum err e;

    if (l->mixer == INGOT_MIXER_ATTENTION) {
        return check_attention(c);
    }
    e = image_layer_bounds(c, bounds, COUNT(bounds));
    if (e != ERR_OK) {
        return e;
    }
    return image_layer_ranges(c, ranges, COUNT(ranges));
}

/* Check the convolution of a recurrent mixer, and the heads if it has a state. */
static enum err check_inner(const struct image_checked *c, bool stateful)
{
    const struct ingot_layer *l = c->layer;

    if (!stateful) {
        return ERR_OK;
    }
    if (l->inner_heads % l->n_groups != 0 || l->inner_dim % l->inner_heads != 0) {
        return REFUSE_LAYER(c, ERR_BAD_HEADER,
                            "n_groups %u, inner_heads %u and inner_dim %u do not divide each other",
                            l->n_groups, l->inner_heads, l->inner_dim);
    }
    if (2 * l->n_groups * l->state_dim + l->inner_dim > INGOT_MAX_HIDDEN) {
        return REFUSE_LAYER(c, ERR_BAD_HEADER,
                            "the convolution has %u channels, must be at most %u",
                            2 * l->n_groups * l->state_dim + l->inner_dim,
                            (unsigned)INGOT_MAX_HIDDEN);
    }
    return ERR_OK;
}

enum err image_check_recurrent(const struct image_checked *c)
{
    const struct ingot_layer *l = c->layer;
    bool mamba2 = l->mixer == INGOT_MIXER_MAMBA2 || l->parallel == INGOT_MIXER_MAMBA2;
    uint32_t stateful = mamba2 || l->mixer == INGOT_MIXER_DELTA;
    uint32_t any = stateful || l->mixer == INGOT_MIXER_SHORTCONV;
    uint32_t own = l->mixer >= INGOT_MIXER_OWN;
    const struct image_bound bounds[] = {
        { "conv_taps", l->conv_taps, 2 * any, (any | own) * INGOT_MAX_TAPS },
        { "inner_dim", l->inner_dim, any, (any | own) * INGOT_MAX_DIM },
        { "n_groups", l->n_groups, stateful, (stateful | own) * INGOT_MAX_INNER_HEADS },
        { "inner_heads", l->inner_heads, stateful, (stateful | own) * INGOT_MAX_INNER_HEADS },
        { "state_dim", l->state_dim, stateful, (stateful | own) * INGOT_MAX_STATE },
        { "features", l->features & INGOT_TILED_GROUPS, 0,
          (l->mixer == INGOT_MIXER_DELTA) * INGOT_TILED_GROUPS },
    };
    enum err e = image_layer_bounds(c, bounds, COUNT(bounds));

    if (e != ERR_OK) {
        return e;
    }
    return check_inner(c, stateful != 0);
}
