#include <stdio.h>

#include "host/info.h"

static void print_shape(const struct ingot_params *p)
{
    printf("family      %s\n", image_family_name(p->family));
    printf("shape       %u layers, dim %u, hidden %u, vocabulary %u\n", p->n_layers, p->dim,
           p->hidden, p->vocab);
    printf("attention   %u heads of %u, %u for keys and values\n", p->n_heads, p->head_dim,
           p->n_kv_heads);
    printf("context     %u tokens\n", p->context);
}

/* A comma in front of each but the first. */
static void word(bool *first, const char *text)
{
    printf("%s%s", *first ? "features    " : ", ", text);
    *first = false;
}

static void number(bool *first, const char *text, double value)
{
    word(first, text);
    printf(" %g", value);
}

static void print_window(const struct ingot_params *p, bool *first)
{
    if (p->window == 0) {
        return;
    }
    number(first, "sliding window", p->window);
    if (p->global_every != 0) {
        printf(" except in 1 of %u layers", p->global_every);
    }
}

static void print_scales(const struct ingot_params *p, bool *first)
{
    if (p->attn_softcap > 0.0f) {
        number(first, "soft cap of scores", (double)p->attn_softcap);
    }
    if (p->final_softcap > 0.0f) {
        number(first, "soft cap of logits", (double)p->final_softcap);
    }
    if (p->embedding_scale < 1.0f || p->embedding_scale > 1.0f) {
        number(first, "embedding times", (double)p->embedding_scale);
    }
    number(first, "scores times", (double)p->attn_scale);
}

static void print_features(const struct ingot_params *p)
{
    static const struct {
        uint32_t bit;
        const char *set, *clear; /* NULL: not worth a word */
    } words[] = {
        { INGOT_LAYER_NORM, "layer norms", "RMS norms" },
        { INGOT_GELU, "GELU", "SiLU" },
        { INGOT_UNGATED, "ungated", "gated" },
        { INGOT_QKV_BIAS, "q/k/v biases", NULL },
        { INGOT_OUT_BIAS, "bias of the attention's output", NULL },
        { INGOT_FFN_BIAS, "FFN biases", NULL },
        { INGOT_QK_NORM, "q/k norms", NULL },
        { INGOT_POST_NORMS, "norms behind both blocks", NULL },
        { INGOT_POSITIONS, "learned positions", NULL },
    };
    bool first = true;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *text = (p->features & words[i].bit) != 0 ? words[i].set : words[i].clear;

        if (text != NULL) {
            word(&first, text);
        }
    }
    word(&first, p->tied ? "output is the embedding" : "output is a matrix of its own");
    print_window(p, &first);
    print_scales(p, &first);
    printf(", norm epsilon %g\n", (double)p->norm_eps);
}

static void print_rope(const struct ingot_params *p)
{
    if (p->rope == INGOT_ROPE_NONE) {
        fputs("rope        none", stdout);
        return;
    }
    printf("rope        %s of %u dimensions, base %g",
           p->rope == INGOT_ROPE_PAIRS ? "pairs" : "halves", p->rope_dims, (double)p->rope_base);
    if (p->window != 0) {
        printf(", %g in local layers", (double)p->rope_base_local);
    }
    if (p->rope_magnitude < 1.0f || p->rope_magnitude > 1.0f) {
        printf(", times %g", (double)p->rope_magnitude);
    }
    if (p->rope_context != 0) {
        printf(", long factors beyond %u tokens", p->rope_context);
    }
}

void info_print_params(const struct ingot_params *p)
{
    print_shape(p);
    print_features(p);
    print_rope(p);
}
