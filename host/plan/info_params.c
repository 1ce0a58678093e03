#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "host/plan/info.h"

#include "runtime/text/plural.h"

static void print_shape(const struct ingot_params *p)
{
    printf("family      %s\n", image_family_name(p->family));
    printf("shape       %u %s, dim %u, hidden %u, vocabulary %u\n", p->n_layers,
           plural(p->n_layers, "layer", "layers"), p->dim, p->hidden, p->vocab);
    printf("attention   %u %s of %u, %u for keys and values\n", p->n_heads,
           plural(p->n_heads, "head", "heads"), p->head_dim, p->n_kv_heads);
    printf("context     %u %s\n", p->context, plural(p->context, "token", "tokens"));
}

void info_add(struct info_features *f, const char *format, ...)
{
    va_list args;

    assert(f->n < INFO_MOST_FEATURES);
    va_start(args, format);
    vsnprintf(f->text[f->n++], INFO_FEATURE_BYTES, format, args);
    va_end(args);
}

static uint32_t count_windows(const struct image *img)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < img->header->params.n_layers; i++) {
        n += image_layer(img, i)->window != 0;
    }
    return n;
}

/* Return the first layer with (or without) a window; layer 0 if there is none. */
static const struct ingot_layer *find_layer(const struct image *img, bool window)
{
    for (uint32_t i = 0; i < img->header->params.n_layers; i++) {
        if ((image_layer(img, i)->window != 0) == window) {
            return image_layer(img, i);
        }
    }
    return image_layer(img, 0);
}

/* Return the period if the last layer of each period, and no other, has no window; else
 * 0. */
static uint32_t window_period(const struct image *img)
{
    uint32_t period = (uint32_t)(find_layer(img, false) - img->layers) + 1;

    for (uint32_t i = 0; i < img->header->params.n_layers; i++) {
        if ((image_layer(img, i)->window == 0) != (i % period == period - 1)) {
            return 0;
        }
    }
    return period;
}

static void add_window(struct info_features *f, const struct image *img)
{
    uint32_t n = count_windows(img), n_layers = img->header->params.n_layers;
    uint32_t period = window_period(img), window = find_layer(img, true)->window;

    if (n == 0) {
        return;
    }
    if (n == n_layers) {
        info_add(f, "sliding window %u", window);
    } else if (period != 0) {
        info_add(f, "sliding window %u except in 1 of %u %s", window, period,
                 plural(period, "layer", "layers"));
    } else {
        info_add(f, "sliding window %u in %u of %u %s", window, n, n_layers,
                 plural(n_layers, "layer", "layers"));
    }
}

/* Return the first layer with attention that has (or does not have) a window. If there is none,
 * return a layer from find_layer(): without attention, the fields that are printed are 0. */
static const struct ingot_layer *attending_layer(const struct image *img, bool window)
{
    for (uint32_t i = 0; i < img->header->params.n_layers; i++) {
        const struct ingot_layer *l = image_layer(img, i);

        if (l->mixer == INGOT_MIXER_ATTENTION && (l->window != 0) == window) {
            return l;
        }
    }
    return find_layer(img, window);
}

/* Add a factor, unless it is 1. */
static void add_multiplier(struct info_features *f, const char *what, float by)
{
    if (by < 1.0f || by > 1.0f) {
        info_add(f, "%s times %g", what, (double)by);
    }
}

static void add_scales(struct info_features *f, const struct image *img)
{
    const struct ingot_params *p = &img->header->params;
    const struct ingot_layer *l = attending_layer(img, count_windows(img) == p->n_layers);

    if (l->attn_softcap > 0.0f) {
        info_add(f, "soft cap of scores %g", (double)l->attn_softcap);
    }
    if (p->final_softcap > 0.0f) {
        info_add(f, "soft cap of logits %g", (double)p->final_softcap);
    }
    add_multiplier(f, "embedding", p->embedding_scale);
    add_multiplier(f, "residual", l->residual_scale);
    add_multiplier(f, "logits", p->logits_scale);
    if (l->mixer == INGOT_MIXER_ATTENTION) {
        info_add(f, "scores times %g", (double)l->attn_scale);
    }
    info_add(f, "norm epsilon %g", (double)p->norm_eps);
}

bool info_has(const struct image *img, enum ingot_role role)
{
    for (uint32_t i = 0; i < img->header->tensors.count; i++) {
        if (img->tensors[i].role == role) {
            return true;
        }
    }
    return false;
}

/* Return the first layer with a feed-forward, which has the same form in all layers. */
static const struct ingot_layer *fed_layer(const struct image *img)
{
    for (uint32_t i = 0; i < img->header->params.n_layers; i++) {
        if (image_layer(img, i)->ffn != INGOT_FFN_NONE) {
            return image_layer(img, i);
        }
    }
    return image_layer(img, 0);
}

static const char *activation_name(const struct ingot_layer *l)
{
    static const char *const names[] = {
        [INGOT_SILU] = "SiLU",
        [INGOT_GELU] = "GELU",
        [INGOT_RELU2] = "squared ReLU",
        [INGOT_SWIGLU_OAI] = "clamped SwiGLU",
    };

    return names[l->activation];
}

void info_find_features(struct info_features *f, const struct image *img)
{
    const struct ingot_layer *fed = fed_layer(img);
    const struct {
        bool there;
        const char *set, *clear; /* NULL: not worth mentioning */
    } words[] = {
        { img->header->params.norm == INGOT_NORM_LAYER, "layer norms", "RMS norms" },
        { true, activation_name(fed), NULL },
        { (fed->features & INGOT_GATED) != 0, "gated", "ungated" },
        { info_has(img, INGOT_ATTN_Q_BIAS), "q/k/v biases", NULL },
        { info_has(img, INGOT_ATTN_OUT_BIAS), "bias of the attention's output", NULL },
        { info_has(img, INGOT_FFN_UP_BIAS), "FFN biases", NULL },
        { info_has(img, INGOT_ATTN_Q_NORM), "q/k norms", NULL },
        { info_has(img, INGOT_ATTN_GATE), "a gate of the attention's output", NULL },
        { info_has(img, INGOT_ATTN_SINKS), "attention sinks", NULL },
        { info_has(img, INGOT_ATTN_SUB_NORM), "norms inside both blocks", NULL },
        { info_has(img, INGOT_ATTN_POST_NORM), "norms after both blocks", NULL },
        { (fed->norms & INGOT_NORM_BEFORE) == 0, "none before them", NULL },
        { info_has(img, INGOT_POSITION_EMBEDDING), "learned positions", NULL },
        { img->header->params.tied != 0, "output is the embedding",
          "output is a matrix of its own" },
    };

    f->n = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *text = words[i].there ? words[i].set : words[i].clear;

        if (text != NULL) {
            info_add(f, "%s", text);
        }
    }
    add_window(f, img);
    info_add_layers(f, img);
    add_scales(f, img);
}

static void print_features(const struct image *img)
{
    struct info_features f;

    info_find_features(&f, img);
    for (unsigned i = 0; i < f.n; i++) {
        printf("%s%s", i == 0 ? "features    " : ", ", f.text[i]);
    }
    putchar('\n');
}

const struct ingot_rope *info_rope(const struct image *img, bool local)
{
    const struct ingot_layer *any = NULL;

    for (uint32_t i = 0; i < img->header->params.n_layers; i++) {
        const struct ingot_layer *l = image_layer(img, i);

        if (l->rope != INGOT_NO_ROPE && (any == NULL || (l->window != 0) == local)) {
            any = l;
            if ((l->window != 0) == local) {
                break;
            }
        }
    }
    return any == NULL ? NULL : &img->header->ropes[any->rope];
}

static void print_rope(const struct image *img)
{
    const struct ingot_rope *rope = info_rope(img, false), *local = info_rope(img, true);

    if (rope == NULL || local == NULL) {
        fputs("rope        none", stdout);
        return;
    }
    printf("rope        %s of %u %s, base %g", rope->kind == INGOT_ROPE_PAIRS ? "pairs" : "halves",
           rope->dims, plural(rope->dims, "dimension", "dimensions"), (double)rope->base);
    if (count_windows(img) != 0) {
        printf(", %g in local layers", (double)local->base);
    }
    if (rope->magnitude < 1.0f || rope->magnitude > 1.0f) {
        printf(", times %g", (double)rope->magnitude);
    }
    if (rope->long_context != 0) {
        printf(", long factors beyond %u %s", rope->long_context,
               plural(rope->long_context, "token", "tokens"));
    }
}

void info_print_params(const struct image *img)
{
    print_shape(&img->header->params);
    print_features(img);
    print_rope(img);
}
