/* The check of the table of layers, and the names of their kinds. */
#include "board/min_max.h"
#include "runtime/image/image_check.h"

/* Kinds that this format names, and those of them that this program computes. */
static const struct kind {
    const char *name;
    bool computed;
} mixers[] = {
    [INGOT_MIXER_NONE] = { "none", true },
    [INGOT_MIXER_ATTENTION] = { "attention", true },
    [INGOT_MIXER_DELTA] = { "delta", false },
    [INGOT_MIXER_SHORTCONV] = { "shortconv", false },
    [INGOT_MIXER_MAMBA2] = { "mamba2", false },
},
  ffns[] = {
      [INGOT_FFN_NONE] = { "none", true },
      [INGOT_FFN_DENSE] = { "dense", true },
      [INGOT_FFN_EXPERTS] = { "experts", false },
  };

enum { N_MIXERS = sizeof mixers / sizeof mixers[0], N_FFNS = sizeof ffns / sizeof ffns[0] };

/* The layer at which a check is. */
struct checked {
    struct image *img;
    const struct ingot_params *params;
    const struct ingot_rope *ropes;
    const struct ingot_layer *layers;
    const struct ingot_layer *layer;
    uint32_t number;
};

#define REFUSE_LAYER(c, e, format, ...) \
    REFUSE((c)->img, e, "layer %u: " format, (c)->number, __VA_ARGS__)

const struct ingot_layer *image_layer(const struct image *img, uint32_t layer)
{
    return &img->layers[layer];
}

static const char *kind_name(const struct kind *kinds, unsigned n, unsigned own, unsigned number)
{
    if (number < n) {
        return kinds[number].name;
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

/* Kinds from INGOT_MIXER_OWN on belong to programs; runtime/model/layer_check.c looks at them. */
static enum err check_kinds(const struct checked *c)
{
    const struct ingot_layer *l = c->layer;

    if (l->mixer < INGOT_MIXER_OWN && (l->mixer >= N_MIXERS || !mixers[l->mixer].computed)) {
        return REFUSE_LAYER(c, ERR_UNSUPPORTED, "mixer is %u (%s), which this program lacks",
                            l->mixer, image_mixer_name(l->mixer));
    }
    if (l->ffn < INGOT_FFN_OWN && (l->ffn >= N_FFNS || !ffns[l->ffn].computed)) {
        return REFUSE_LAYER(c, ERR_UNSUPPORTED, "ffn is %u (%s), which this program lacks", l->ffn,
                            image_ffn_name(l->ffn));
    }
    return ERR_OK;
}

static enum err check_bounds(const struct checked *c, const struct image_bound *bounds, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bounds[i].value < bounds[i].low || bounds[i].value > bounds[i].high) {
            return REFUSE_LAYER(c, ERR_BAD_HEADER, "%s is %u, must be %u to %u", bounds[i].name,
                                bounds[i].value, bounds[i].low, bounds[i].high);
        }
    }
    return ERR_OK;
}

static enum err check_ranges(const struct checked *c, const struct image_range *ranges, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!image_in_range(&ranges[i])) {
            return REFUSE_LAYER(c, ERR_BAD_HEADER, "%s is out of its range", ranges[i].name);
        }
    }
    return ERR_OK;
}

/* Values that the format allows and this program does not compute. */
static enum err check_supported(const struct checked *c)
{
    const struct ingot_layer *l = c->layer;

    if ((l->norms & INGOT_NORM_BEFORE) == 0) {
        return REFUSE_LAYER(c, ERR_UNSUPPORTED, "norms is %u, without the one before a block",
                            l->norms);
    }
    if (!(l->residual_scale >= 1.0f && l->residual_scale <= 1.0f)) { /* nor a NaN */
        return REFUSE_LAYER(c, ERR_UNSUPPORTED, "residual_scale is not %u", 1u);
    }
    if (l->mixer != INGOT_MIXER_ATTENTION) {
        return ERR_OK;
    }
    if (l->kv_layer != c->number) {
        return REFUSE_LAYER(c, ERR_UNSUPPORTED, "kv_layer is %u: keys and values of another layer",
                            l->kv_layer);
    }
    if (l->value_dim != l->head_dim || l->head_dim != c->params->head_dim) {
        return REFUSE_LAYER(c, ERR_UNSUPPORTED, "heads are %u and %u wide, others %u", l->head_dim,
                            l->value_dim, c->params->head_dim);
    }
    return ERR_OK;
}

static enum err check_rope(const struct checked *c)
{
    const struct ingot_layer *l = c->layer;

    if (l->rope == INGOT_NO_ROPE) {
        return ERR_OK;
    }
    if (l->rope >= c->params->n_ropes) {
        return REFUSE_LAYER(c, ERR_BAD_HEADER, "rope is %u, there are %u", l->rope,
                            c->params->n_ropes);
    }
    if (c->ropes[l->rope].dims > l->head_dim) {
        return REFUSE_LAYER(c, ERR_BAD_HEADER, "rope_dims is %u, must be even and at most %u",
                            c->ropes[l->rope].dims, l->head_dim);
    }
    /* The scale of the scores is part of the table that queries are rotated by. */
    for (uint32_t i = 0; i < c->number; i++) {
        const struct ingot_layer *other = &c->layers[i];

        if (other->rope == l->rope &&
            (other->attn_scale < l->attn_scale || other->attn_scale > l->attn_scale)) {
            return REFUSE_LAYER(c, ERR_BAD_HEADER, "attn_scale is not that of layer %u", i);
        }
    }
    return ERR_OK;
}

static enum err check_attention(const struct checked *c)
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
    enum err e = check_bounds(c, bounds, sizeof bounds / sizeof bounds[0]);

    if (e == ERR_OK) {
        e = check_ranges(c, ranges, sizeof ranges / sizeof ranges[0]);
    }
    if (e != ERR_OK) {
        return e;
    }
    if (l->n_heads % l->n_kv_heads != 0) {
        return REFUSE_LAYER(c, ERR_BAD_HEADER, "n_kv_heads is %u, no divisor of n_heads %u",
                            l->n_kv_heads, l->n_heads);
    }
    if (l->head_dim < 2 || l->head_dim % 2 != 0 || l->head_dim > INGOT_MAX_DIM / l->n_heads) {
        return REFUSE_LAYER(c, ERR_BAD_HEADER, "head_dim is %u, must be even and at most %u",
                            l->head_dim, INGOT_MAX_DIM / l->n_heads);
    }
    return check_rope(c);
}

/* A layer without attention has zeros in its fields; a program's own kinds may have any values
 * within the bounds. */
static enum err check_mixer(const struct checked *c)
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
        { "features", l->features & INGOT_QK_NORM, 0, 0 },
    };
    const struct image_range ranges[] = {
        { "attn_scale", l->attn_scale, 0.0f, (float)most * 1e3f },
        { "attn_softcap", l->attn_softcap, 0.0f, (float)most * 1e6f },
    };
    enum err e;

    if (l->mixer == INGOT_MIXER_ATTENTION) {
        return check_attention(c);
    }
    e = check_bounds(c, bounds, sizeof bounds / sizeof bounds[0]);
    if (e != ERR_OK) {
        return e;
    }
    return check_ranges(c, ranges, sizeof ranges / sizeof ranges[0]);
}

static enum err check_ffn(const struct checked *c)
{
    const struct ingot_layer *l = c->layer;
    uint32_t dense = l->ffn == INGOT_FFN_DENSE, any = l->ffn != INGOT_FFN_NONE;
    const struct image_bound bounds[] = {
        { "hidden", l->hidden, dense, any * INGOT_MAX_HIDDEN },
        { "activation", l->activation, INGOT_SILU, INGOT_GELU },
        { "norms", l->norms, 0, INGOT_NORM_BEFORE | INGOT_NORM_AFTER },
        { "features", l->features, 0, INGOT_ALL_FEATURES },
    };
    enum err e = check_bounds(c, bounds, sizeof bounds / sizeof bounds[0]);

    if (e == ERR_OK && l->ffn == INGOT_FFN_DENSE && (l->features & INGOT_GATED) == 0 &&
        l->activation == INGOT_SILU) {
        return REFUSE_LAYER(c, ERR_UNSUPPORTED, "activation is %u, an ungated SiLU", l->activation);
    }
    return e;
}

static enum err check_layer(const struct checked *c)
{
    enum err e = check_kinds(c);

    if (e == ERR_OK) {
        e = check_ffn(c);
    }
    if (e == ERR_OK) {
        e = check_mixer(c);
    }
    if (e == ERR_OK) {
        e = check_supported(c);
    }
    if (e == ERR_OK && !image_all_zero(c->layer->reserved, sizeof c->layer->reserved)) {
        return REFUSE_LAYER(c, ERR_BAD_HEADER, "reserved is not %s", "zero");
    }
    return e;
}

/* Memory is planned by the widest layer. */
static enum err check_widest(struct image *img, const struct ingot_params *p,
                             const struct ingot_layer *layers)
{
    uint32_t hidden = 0, n_heads = 0, n_kv_heads = 0, head_dim = 0;

    for (uint32_t i = 0; i < p->n_layers; i++) {
        hidden = max_u32(hidden, layers[i].hidden);
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
        const struct checked c = { img, p, ropes, layers, &layers[i], i };
        enum err e = check_layer(&c);

        if (e != ERR_OK) {
            return e;
        }
    }
    return check_widest(img, p, layers);
}
