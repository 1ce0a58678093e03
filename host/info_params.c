#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "host/info.h"

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

/* One more feature. */
__attribute__((format(printf, 2, 3))) static void add(struct info_features *f, const char *format,
                                                      ...)
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

/* The first layer with a window, or without one; 0 where there is none. */
static const struct ingot_layer *find_layer(const struct image *img, bool window)
{
    for (uint32_t i = 0; i < img->header->params.n_layers; i++) {
        if ((image_layer(img, i)->window != 0) == window) {
            return image_layer(img, i);
        }
    }
    return image_layer(img, 0);
}

/* After how many layers with a window one without comes, if that goes on to the end; else 0. */
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
        add(f, "sliding window %u", window);
    } else if (period != 0) {
        add(f, "sliding window %u except in 1 of %u %s", window, period,
            plural(period, "layer", "layers"));
    } else {
        add(f, "sliding window %u in %u of %u %s", window, n, n_layers,
            plural(n_layers, "layer", "layers"));
    }
}

static void add_scales(struct info_features *f, const struct image *img)
{
    const struct ingot_params *p = &img->header->params;
    const struct ingot_layer *l = image_layer(img, 0);

    if (l->attn_softcap > 0.0f) {
        add(f, "soft cap of scores %g", (double)l->attn_softcap);
    }
    if (p->final_softcap > 0.0f) {
        add(f, "soft cap of logits %g", (double)p->final_softcap);
    }
    if (p->embedding_scale < 1.0f || p->embedding_scale > 1.0f) {
        add(f, "embedding times %g", (double)p->embedding_scale);
    }
    add(f, "scores times %g", (double)l->attn_scale);
    add(f, "norm epsilon %g", (double)p->norm_eps);
}

/* Whether a role has a tensor, in the first layer where it is a layer's. */
static bool has(const struct image *img, enum ingot_role role)
{
    return image_tensor(img, role, image_role_is_layer(role) ? 0 : INGOT_NO_LAYER) != NULL;
}

void info_find_features(struct info_features *f, const struct image *img)
{
    const struct ingot_layer *l = image_layer(img, 0);
    const struct {
        bool there;
        const char *set, *clear; /* NULL: not worth a word */
    } words[] = {
        { img->header->params.norm == INGOT_NORM_LAYER, "layer norms", "RMS norms" },
        { l->activation == INGOT_GELU, "GELU", "SiLU" },
        { (l->features & INGOT_GATED) != 0, "gated", "ungated" },
        { has(img, INGOT_ATTN_Q_BIAS), "q/k/v biases", NULL },
        { has(img, INGOT_ATTN_OUT_BIAS), "bias of the attention's output", NULL },
        { has(img, INGOT_FFN_UP_BIAS), "FFN biases", NULL },
        { has(img, INGOT_ATTN_Q_NORM), "q/k norms", NULL },
        { has(img, INGOT_ATTN_POST_NORM), "norms after both blocks", NULL },
        { has(img, INGOT_POSITION_EMBEDDING), "learned positions", NULL },
        { img->header->params.tied != 0, "output is the embedding",
          "output is a matrix of its own" },
    };

    f->n = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *text = words[i].there ? words[i].set : words[i].clear;

        if (text != NULL) {
            add(f, "%s", text);
        }
    }
    add_window(f, img);
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
    const struct ingot_layer *l = find_layer(img, local);

    if (l->rope == INGOT_NO_ROPE) {
        return NULL;
    }
    return &img->header->ropes[l->rope];
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
