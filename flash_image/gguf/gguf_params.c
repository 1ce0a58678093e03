/* A model's parameters from a GGUF file, and from its family where the file has none. */
#include <math.h>

#include "flash_image/gguf/gguf_private.h"
#include "flash_image/quantize/source_rows.h"
#include "flash_image/source/rope_factors.h"
#include "runtime/image/image.h"

/* Numbers beyond 32 bits become the largest, which no bound lets pass. */
static uint32_t narrow(uint64_t n)
{
    return (uint32_t)min_u64(n, UINT32_MAX);
}

static uint32_t size_or(const struct gguf *g, enum gguf_number which, uint64_t otherwise)
{
    return narrow(gguf_number_or(g, which, otherwise));
}

/* For a sentence: the architecture, and a name that begins with a dot. */
#define SHOW_KEY(g, name) SOURCE_SHOW((g)->architecture), (name)

static enum gguf_real eps_of(const struct gguf *g)
{
    if ((g->family->features & SOURCE_LAYER_NORM) != 0) {
        return R_LAYER_EPS;
    }
    return R_RMS_EPS;
}

static enum err check_needed(struct gguf *g)
{
    static const enum gguf_number needed[] = { N_CONTEXT, N_DIM, N_LAYERS, N_HIDDEN, N_HEADS };

    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (!g->has_number[needed[i]]) {
            return source_refuse(g->s, ERR_BAD_MODEL, "%.*s%s is missing",
                                 SHOW_KEY(g, gguf_number_name(needed[i])));
        }
    }
    if (!g->has_real[eps_of(g)]) {
        return source_refuse(g->s, ERR_BAD_MODEL, "%.*s%s is missing",
                             SHOW_KEY(g, gguf_real_name(eps_of(g))));
    }
    if (g->number[N_HEADS] == 0 ||
        (!g->has_number[N_KEY_LENGTH] && g->number[N_DIM] % g->number[N_HEADS] != 0)) {
        return source_refuse(g->s, ERR_BAD_MODEL, "%.*s%s is %llu, no divisor of the width %llu",
                             SHOW_KEY(g, gguf_number_name(N_HEADS)),
                             (unsigned long long)g->number[N_HEADS],
                             (unsigned long long)g->number[N_DIM]);
    }
    if (g->has_number[N_CAUSAL] && g->number[N_CAUSAL] == 0) {
        return source_refuse(g->s, ERR_UNSUPPORTED, "%.*s%s is false: the model does not generate",
                             SHOW_KEY(g, gguf_number_name(N_CAUSAL)));
    }
    return ERR_OK;
}

static void read_sizes(struct gguf *g)
{
    struct source_params *p = &g->s->params;
    uint64_t heads = g->number[N_HEADS];

    *p = (struct source_params){
        .dim = narrow(g->number[N_DIM]),
        .hidden = narrow(g->number[N_HIDDEN]),
        .n_layers = narrow(g->number[N_LAYERS]),
        .n_heads = narrow(heads),
        .n_kv_heads = size_or(g, N_KV_HEADS, heads),
        .head_dim = size_or(g, N_KEY_LENGTH, g->number[N_DIM] / heads),
        .vocab = g->s->vocab.n_tokens,
        .context = narrow(g->number[N_CONTEXT]),
    };
}

/* Of all Gemmas these two do not scale scores by the width of a head, and files do not say so. */
static bool scales_by_width(const struct source_params *p)
{
    return (p->family == INGOT_GEMMA2 && p->n_layers == 46) ||
           (p->family == INGOT_GEMMA3 && p->n_layers == 62);
}

static void read_scales(struct gguf *g)
{
    struct source_params *p = &g->s->params;

    p->norm_eps = (float)g->real[eps_of(g)];
    p->rope_base = (float)gguf_real_or(g, R_ROPE_BASE, (double)p->rope_base);
    p->rope_dims = size_or(g, N_ROPE_DIMS, p->head_dim);
    if (scales_by_width(p)) {
        p->attn_scale = 1.0f / sqrtf((float)(p->dim / p->n_heads));
    }
    if (gguf_real_or(g, R_ATTN_SCALE, 0.0) != 0.0) {
        p->attn_scale = (float)g->real[R_ATTN_SCALE];
    }
    p->attn_softcap = (float)gguf_real_or(g, R_ATTN_SOFTCAP, 0.0);
    p->final_softcap = (float)gguf_real_or(g, R_FINAL_SOFTCAP, 0.0);
}

/* Layers as a list of "is local": 0 where they are no run of local ones and a global one. */
static uint32_t period_of(const struct gguf_value *pattern, uint32_t n_layers, bool *all_local)
{
    uint32_t period = 1;

    *all_local = false;
    if (pattern->element != VALUE_BOOL || pattern->count != n_layers) {
        return 0;
    }
    while (period <= n_layers && pattern->data.data[period - 1] != 0) {
        period++;
    }
    if (period > n_layers) {
        *all_local = true;
        return 0;
    }
    for (uint32_t i = 0; i < n_layers; i++) {
        if ((pattern->data.data[i] != 0) != (i % period != period - 1)) {
            return 0;
        }
    }
    return period;
}

static enum err read_period(struct gguf *g, uint32_t *period)
{
    uint32_t n_layers = g->s->params.n_layers;
    bool all_local = false;
    uint64_t number = 0;

    *period = g->family->global_every;
    if (!g->has_pattern) {
        return ERR_OK;
    }
    if (g->pattern.type == VALUE_ARRAY) {
        *period = period_of(&g->pattern, n_layers, &all_local);
    } else if (gguf_value_number(&g->pattern, &number)) {
        *period = (uint32_t)number;
        if (number > INGOT_MAX_LAYERS) {
            *period = 0; /* refused below */
        }
    }
    if ((*period == 0 && !all_local) || (*period != 0 && g->family->window == FAMILY_ALL_LOCAL)) {
        return source_refuse(g->s, ERR_UNSUPPORTED,
                             "%.*s.attention.sliding_window_pattern makes "
                             "no pattern that is supported",
                             SOURCE_SHOW(g->architecture));
    }
    return ERR_OK;
}

static enum err read_window(struct gguf *g)
{
    uint64_t window = g->number[N_WINDOW];
    uint32_t period;
    enum err e = read_period(g, &period);

    if (e != ERR_OK) {
        return e;
    }
    if (!g->has_number[N_WINDOW] && g->family->family == INGOT_GEMMA2) {
        window = 4096; /* missing in the first files */
    }
    e = family_set_window(g->s, g->family, window, period);
    if (e == ERR_OK && g->has_real[R_ROPE_BASE_LOCAL] && g->s->params.window != 0) {
        g->s->params.rope_base_local = (float)g->real[R_ROPE_BASE_LOCAL];
    }
    return e;
}

enum err gguf_read_params(struct gguf *g)
{
    enum err e = check_needed(g);

    if (e != ERR_OK) {
        return e;
    }
    if (g->family->family == INGOT_LLAMA && g->number[N_WINDOW] != 0) {
        g->family = family_find(INGOT_MISTRAL); /* one architecture in GGUF */
    }
    read_sizes(g);
    if (g->has_number[N_VALUE_LENGTH] && g->number[N_VALUE_LENGTH] != g->s->params.head_dim) {
        return source_refuse(g->s, ERR_UNSUPPORTED,
                             "%.*s%s is %llu: values of another width than "
                             "keys are not supported",
                             SHOW_KEY(g, gguf_number_name(N_VALUE_LENGTH)),
                             (unsigned long long)g->number[N_VALUE_LENGTH]);
    }
    family_set_params(g->s, g->family, true);
    read_scales(g);
    e = read_window(g);
    if (e == ERR_OK) {
        e = source_check_params(g->s);
    }
    g->s->params_known = e == ERR_OK;
    return e;
}

/* ---- what tensors and scaling add ------------------------------------------------------------ */

/* Biases that some models of a family have and others do not. */
static void find_biases(struct source *s)
{
    struct source_params *p = &s->params;

    if (p->family != INGOT_LLAMA && p->family != INGOT_MISTRAL) {
        return;
    }
    if (source_tensor(s, INGOT_ATTN_Q_BIAS, 0)->data != NULL) {
        p->features |= SOURCE_QKV_BIAS;
    }
    if (source_tensor(s, INGOT_ATTN_OUT_BIAS, 0)->data != NULL) {
        p->features |= SOURCE_OUT_BIAS;
    }
}

static enum err read_factors(struct gguf *g, enum gguf_factors which,
                             float factors[SOURCE_MAX_FACTORS])
{
    const struct source_tensor *t = &g->factors[which];
    enum err e = rope_factors_take(g->s);

    if (e != ERR_OK) {
        return e;
    }
    if (t->rows != 1 || t->cols != g->s->params.rope_dims / 2) {
        return source_refuse(g->s, ERR_BAD_MODEL, "the factors of rope scaling are %u, must be %u",
                             t->rows * t->cols, g->s->params.rope_dims / 2);
    }
    source_read_row(t, 0, factors);
    return ERR_OK;
}

static enum err add_factors(struct gguf *g, enum gguf_factors which, enum source_rope_set set)
{
    float factors[SOURCE_MAX_FACTORS];
    enum err e = read_factors(g, which, factors);

    if (e != ERR_OK) {
        return e;
    }
    return rope_factors_multiply(g->s, set, factors);
}

/* Factors that are the same for every context. */
static enum err add_factors_of_all(struct gguf *g)
{
    float factors[SOURCE_MAX_FACTORS];
    enum err e;

    if (g->factors[FACTORS_ALL].data == NULL) {
        return ERR_OK;
    }
    e = read_factors(g, FACTORS_ALL, factors);
    if (e != ERR_OK) {
        return e;
    }
    return rope_factors_multiply_all(g->s, factors);
}

/* Short and long factors: the context of training parts them. */
static enum err add_long_short(struct gguf *g)
{
    struct source_params *p = &g->s->params;
    enum err e;

    if (g->factors[FACTORS_LONG].data == NULL && g->factors[FACTORS_SHORT].data == NULL) {
        return ERR_OK;
    }
    if (g->factors[FACTORS_LONG].data == NULL || g->factors[FACTORS_SHORT].data == NULL ||
        !g->has_number[N_ROPE_CONTEXT]) {
        return source_refuse(g->s, ERR_BAD_MODEL,
                             "of rope_factors_long, rope_factors_short and "
                             "%.*s%s one is missing",
                             SHOW_KEY(g, gguf_number_name(N_ROPE_CONTEXT)));
    }
    if (p->window != 0) {
        return source_refuse(g->s, ERR_UNSUPPORTED,
                             "long factors of rotation together with a "
                             "sliding window are not supported");
    }
    p->rope_context = narrow(g->number[N_ROPE_CONTEXT]);
    e = add_factors(g, FACTORS_SHORT, SOURCE_ROPE_GLOBAL);
    if (e != ERR_OK) {
        return e;
    }
    return add_factors(g, FACTORS_LONG, SOURCE_ROPE_LONG);
}

static enum err add_scaling(struct gguf *g, bool yarn, double factor)
{
    const struct rope_yarn y = { .factor = factor,
                                 .context = size_or(g, N_ROPE_CONTEXT, g->s->params.context),
                                 .beta_fast = gguf_real_or(g, R_BETA_FAST, 32.0),
                                 .beta_slow = gguf_real_or(g, R_BETA_SLOW, 1.0) };
    enum err e = rope_factors_take(g->s);

    if (e != ERR_OK) {
        return e;
    }
    if (yarn) {
        return rope_factors_yarn_all(g->s, &y);
    }
    return rope_factors_scale_all(g->s, (float)factor);
}

static enum err read_scaling(struct gguf *g)
{
    struct source_text type = g->rope_scaling;
    bool yarn = source_text_is(type, "yarn");
    double factor = gguf_real_or(g, R_ROPE_FACTOR, gguf_real_or(g, R_ROPE_LINEAR, 1.0));
    double magnitude = gguf_real_or(g, R_ROPE_MAGNITUDE, 1.0);

    if (type.bytes != 0 && !yarn && !source_text_is(type, "none") &&
        !source_text_is(type, "linear") && !source_text_is(type, "longrope")) {
        return source_refuse(g->s, ERR_UNSUPPORTED,
                             "rope scaling '%.*s' is not supported; "
                             "supported: linear, yarn, longrope",
                             SOURCE_SHOW(type));
    }
    if (yarn) {
        magnitude *= rope_yarn_magnitude(factor);
    }
    g->s->params.rope_magnitude = (float)magnitude;
    if (factor == 0.0 || factor == 1.0 || source_text_is(type, "none") ||
        source_text_is(type, "longrope")) {
        return ERR_OK;
    }
    return add_scaling(g, yarn, factor);
}

enum err gguf_finish_params(struct gguf *g)
{
    enum err e = ERR_OK;

    find_biases(g->s);
    if (g->s->params.rope != SOURCE_ROPE_NONE) {
        e = read_scaling(g);
    }
    if (e != ERR_OK) {
        return e;
    }
    e = add_factors_of_all(g);
    if (e != ERR_OK) {
        return e;
    }
    e = add_long_short(g);
    if (e != ERR_OK) {
        return e;
    }
    return source_check_params(g->s);
}
