/* Check the table of layers, and name the kinds of layers. */
#include "board/min_max.h"
#include "runtime/image/image_check.h"

/* Kinds that the format names. layer_check.c checks which kinds this program computes. */
static const char *const mixers[] = {
    [INGOT_MIXER_NONE] = "none",     [INGOT_MIXER_ATTENTION] = "attention",
    [INGOT_MIXER_DELTA] = "delta",   [INGOT_MIXER_SHORTCONV] = "shortconv",
    [INGOT_MIXER_MAMBA2] = "mamba2",
};
static const char *const ffns[] = {
    [INGOT_FFN_NONE] = "none",
    [INGOT_FFN_DENSE] = "dense",
    [INGOT_FFN_EXPERTS] = "experts",
};

enum { N_MIXERS = sizeof mixers / sizeof mixers[0], N_FFNS = sizeof ffns / sizeof ffns[0] };

const struct ingot_layer *image_layer(const struct image *img, uint32_t layer)
{
    return &img->layers[layer];
}

static const char *kind_name(const char *const *names, unsigned n, unsigned own, unsigned number)
{
    if (number < n) {
        return names[number];
    }
    if (number >= own) {
        return "own";
    }
    return "unknown";
}

const char *image_mixer_name(unsigned mixer)
{
    return kind_name(mixers, N_MIXERS, INGOT_MIXER_OWN, mixer);
}

const char *image_ffn_name(unsigned ffn)
{
    return kind_name(ffns, N_FFNS, INGOT_FFN_OWN, ffn);
}

/* Kinds from INGOT_MIXER_OWN on belong to programs; runtime/model/layer_check.c checks them. */
static enum err check_kinds(const struct image_checked *c)
{
    const struct ingot_layer *l = c->layer;

    if (l->mixer < INGOT_MIXER_OWN && l->mixer >= N_MIXERS) {
        return REFUSE_LAYER(c, ERR_UNSUPPORTED, "mixer is %u, which this program lacks", l->mixer);
    }
    if (l->ffn < INGOT_FFN_OWN && l->ffn >= N_FFNS) {
        return REFUSE_LAYER(c, ERR_UNSUPPORTED, "ffn is %u, which this program lacks", l->ffn);
    }
    if (l->parallel != INGOT_MIXER_NONE &&
        (l->parallel != INGOT_MIXER_MAMBA2 || l->mixer != INGOT_MIXER_ATTENTION)) {
        return REFUSE_LAYER(c, ERR_UNSUPPORTED,
                            "parallel is %u: only Mamba2 runs parallel to attention", l->parallel);
    }
    return ERR_OK;
}

enum err image_layer_bounds(const struct image_checked *c, const struct image_bound *bounds,
                            size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bounds[i].value < bounds[i].low || bounds[i].value > bounds[i].high) {
            return REFUSE_LAYER(c, ERR_BAD_HEADER, "%s is %u, must be %u to %u", bounds[i].name,
                                bounds[i].value, bounds[i].low, bounds[i].high);
        }
    }
    return ERR_OK;
}

enum err image_layer_ranges(const struct image_checked *c, const struct image_range *ranges,
                            size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!image_in_range(&ranges[i])) {
            return REFUSE_LAYER(c, ERR_BAD_HEADER, "%s is out of its range", ranges[i].name);
        }
    }
    return ERR_OK;
}

/* Check fields that do not depend on the kinds. */
static enum err check_common(const struct image_checked *c)
{
    const struct ingot_layer *l = c->layer;
    const struct image_bound bounds[] = {
        { "norms", l->norms, 0, INGOT_NORM_BEFORE | INGOT_NORM_AFTER },
        { "features", l->features, 0, INGOT_ALL_FEATURES },
    };
    const struct image_range ranges[] = {
        { "residual_scale", l->residual_scale, 1e-6f, 1e6f },
        { "output_scale", l->output_scale, -1e6f, 1e6f },
    };
    enum err e = image_layer_bounds(c, bounds, sizeof bounds / sizeof bounds[0]);

    if (e != ERR_OK) {
        return e;
    }
    return image_layer_ranges(c, ranges, sizeof ranges / sizeof ranges[0]);
}

/* Check the dense feed-forward, which may also run in addition to experts. */
static enum err check_dense(const struct image_checked *c)
{
    const struct ingot_layer *l = c->layer;
    uint32_t dense = l->ffn == INGOT_FFN_DENSE, any = l->ffn != INGOT_FFN_NONE;
    bool gated = (l->features & INGOT_GATED) != 0, fed = dense || l->ffn == INGOT_FFN_EXPERTS;
    const struct image_bound bounds[] = {
        { "hidden", l->hidden, dense, any * INGOT_MAX_HIDDEN },
        { "activation", l->activation, INGOT_SILU, INGOT_LAST_ACTIVATION },
    };
    enum err e = image_layer_bounds(c, bounds, sizeof bounds / sizeof bounds[0]);

    if (e == ERR_OK && fed && !gated &&
        (l->activation == INGOT_SILU || l->activation == INGOT_SWIGLU_OAI)) {
        return REFUSE_LAYER(c, ERR_UNSUPPORTED, "activation is %u, which needs a gate",
                            l->activation);
    }
    return e;
}

/* The chosen groups must have at least as many experts as a token takes. */
static enum err check_groups(const struct image_checked *c)
{
    const struct ingot_layer *l = c->layer;
    uint32_t by_two = (l->features & INGOT_GROUPS_BY_TWO) != 0, each;

    if (l->expert_groups == 0) {
        const struct image_bound none = { "features", by_two * INGOT_GROUPS_BY_TWO, 0, 0 };

        return image_layer_bounds(c, &none, 1);
    }
    each = l->n_experts / l->expert_groups;
    if (l->n_experts % l->expert_groups != 0 || each <= by_two ||
        l->n_experts_used > l->expert_groups_used * each) {
        return REFUSE_LAYER(c, ERR_BAD_HEADER,
                            "expert_groups %u, %u used, cannot give %u of %u experts",
                            l->expert_groups, l->expert_groups_used, l->n_experts_used,
                            l->n_experts);
    }
    return ERR_OK;
}

/* Check a layer's experts; their locations are checked with the tensors. */
static enum err check_experts(const struct image_checked *c)
{
    const struct ingot_layer *l = c->layer;
    uint32_t any = l->ffn == INGOT_FFN_EXPERTS;
    const struct image_bound bounds[] = {
        { "n_experts", l->n_experts, any, any * INGOT_MAX_EXPERTS },
        { "n_experts_used", l->n_experts_used, any, l->n_experts },
        { "expert_hidden", l->expert_hidden, any, any * INGOT_MAX_HIDDEN },
        { "router", l->router, 0, any * INGOT_LAST_ROUTER },
        { "features", l->features & INGOT_RENORMALIZE, 0, any * INGOT_RENORMALIZE },
        { "expert_groups", l->expert_groups, 0, l->n_experts },
        { "expert_groups_used", l->expert_groups_used, l->expert_groups != 0, l->expert_groups },
    };
    const struct image_range range = { "expert_scale", l->expert_scale, any ? 1e-6f : 0.0f,
                                       (float)any * 1e6f };
    enum err e = image_layer_bounds(c, bounds, sizeof bounds / sizeof bounds[0]);

    if (e == ERR_OK) {
        e = image_layer_ranges(c, &range, 1);
    }
    if (e != ERR_OK) {
        return e;
    }
    return check_groups(c);
}

static enum err check_layer(const struct image_checked *c)
{
    static enum err (*const checks[])(const struct image_checked *) = {
        check_kinds,   check_common,          check_dense,
        check_experts, image_check_attention, image_check_recurrent,
    };
    const struct ingot_layer *l = c->layer;

    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        enum err e = checks[i](c);

        if (e != ERR_OK) {
            return e;
        }
    }
    if (l->reserved0 != 0 || !image_all_zero(l->reserved1, sizeof l->reserved1) ||
        !image_all_zero(l->reserved, sizeof l->reserved)) {
        return REFUSE_LAYER(c, ERR_BAD_HEADER, "reserved is not %s", "zero");
    }
    return ERR_OK;
}

/* Memory is planned for the widest layer. */
static enum err check_widest(struct image *img, const struct ingot_params *p,
                             const struct ingot_layer *layers)
{
    uint32_t hidden = image_mtp_inputs(p), n_heads = 0, n_kv_heads = 0, head_dim = 0;

    for (uint32_t i = 0; i < p->n_layers; i++) {
        hidden = max_u32(hidden, max_u32(layers[i].hidden, layers[i].expert_hidden));
        n_heads = max_u32(n_heads, layers[i].n_heads);
        n_kv_heads = max_u32(n_kv_heads, layers[i].n_kv_heads);
        head_dim = max_u32(head_dim, layers[i].head_dim);
    }
    const struct {
        const char *name;
        uint32_t value, right;
    } widest[] = {
        { "hidden", p->hidden, hidden },
        { "n_heads", p->n_heads, n_heads },
        { "n_kv_heads", p->n_kv_heads, n_kv_heads },
        { "head_dim", p->head_dim, head_dim },
    };

    for (size_t i = 0; i < sizeof widest / sizeof widest[0]; i++) {
        if (widest[i].value != widest[i].right) {
            return REFUSE(img, ERR_BAD_HEADER, "header: %s is %u, the largest of a layer is %u",
                          widest[i].name, widest[i].value, widest[i].right);
        }
    }
    return ERR_OK;
}

enum err image_check_layers(struct image *img, const struct ingot_params *p,
                            const struct ingot_rope *ropes, const struct ingot_layer *layers)
{
    for (uint32_t i = 0; i < p->n_layers; i++) {
        const struct image_checked c = { img, p, ropes, layers, &layers[i], i };
        enum err e = check_layer(&c);

        if (e != ERR_OK) {
            return e;
        }
    }
    return check_widest(img, p, layers);
}
