/* The rotation of a GGUF's model: factors from tensors, and scaling from values. */
#include <math.h>

#include "flash_image/gguf/gguf_private.h"
#include "flash_image/quantize/source_rows.h"
#include "flash_image/source/rope_factors.h"

static enum err read_factors(struct gguf *g, enum gguf_factors which,
                             float factors[SOURCE_MAX_FACTORS])
{
    const struct source_tensor *t = &g->factors[which];
    enum err e = rope_factors_take(g->s);

    if (e != ERR_OK) {
        return e;
    }
    if (t->rows != 1 || t->cols != g->s->params.rope_dims / 2) {
        return source_refuse(g->s, ERR_BAD_MODEL, "rope scaling has %u factors, must be %u",
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

/* Add factors that are the same for every length of context. */
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

/* If a file with long and short factors gives no magnitude, set it from the ratio by which the
 * context grows. */
static void set_usual_magnitude(struct gguf *g)
{
    struct source_params *p = &g->s->params;
    double trained = (double)p->rope_context, grown = (double)p->context / trained;

    if (!g->has_real[R_ROPE_MAGNITUDE] && p->rope_context > 1 && grown > 1.0) {
        p->rope_magnitude = (float)sqrt(1.0 + log(grown) / log(trained));
    }
}

/* Add short factors, and long ones for sequences that exceed the context of the training. */
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
                             "one of rope_factors_long, rope_factors_short and %.*s%s is missing",
                             GGUF_SHOW_KEY(g, gguf_number_name(N_ROPE_CONTEXT)));
    }
    if (p->window != 0) {
        return source_refuse(g->s, ERR_UNSUPPORTED,
                             "rope scaling with long factors is not supported together with a "
                             "sliding window");
    }
    p->rope_context = gguf_narrow(g->number[N_ROPE_CONTEXT]);
    set_usual_magnitude(g);
    e = add_factors(g, FACTORS_SHORT, SOURCE_ROPE_GLOBAL);
    if (e != ERR_OK) {
        return e;
    }
    return add_factors(g, FACTORS_LONG, SOURCE_ROPE_LONG);
}

static enum err add_scaling(struct gguf *g, bool yarn, double factor)
{
    const struct rope_yarn y = { .factor = factor,
                                 .context = gguf_narrow(
                                     gguf_number_or(g, N_ROPE_CONTEXT, g->s->params.context)),
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

/* R_YARN_PART is the share of YaRN's angles in a mix with scaled angles. Refuse a share other than
 * 1. */
static enum err refuse_part(struct gguf *g)
{
    return source_refuse(g->s, ERR_UNSUPPORTED, "%.*s%s is %g, only 1 is supported",
                         GGUF_SHOW_KEY(g, gguf_real_name(R_YARN_PART)), g->real[R_YARN_PART]);
}

static enum err read_scaling(struct gguf *g)
{
    struct source_text type = g->rope_scaling;
    bool yarn = source_text_is(type, "yarn");
    double factor = gguf_real_or(g, R_ROPE_FACTOR, gguf_real_or(g, R_ROPE_LINEAR, 1.0));
    double magnitude = gguf_real_or(g, R_ROPE_MAGNITUDE, 1.0);
    double log_multiplier = gguf_real_or(g, R_YARN_LOG, 0.0);

    if (type.bytes != 0 && !yarn && !source_text_is(type, "none") &&
        !source_text_is(type, "linear") && !source_text_is(type, "longrope")) {
        return source_refuse(g->s, ERR_UNSUPPORTED,
                             "rope scaling '%.*s' is not supported; "
                             "supported: linear, yarn, longrope",
                             SOURCE_SHOW(type));
    }
    if (yarn && gguf_real_or(g, R_YARN_PART, 1.0) != 1.0) {
        return refuse_part(g);
    }
    if (yarn && log_multiplier != 0.0) { /* only the scores are scaled, not queries and keys */
        g->s->params.attn_scale *= (float)pow(1.0 + log_multiplier * log(fmax(factor, 1.0)), 2.0);
    } else if (yarn) {
        magnitude *= rope_yarn_magnitude(factor);
    }
    g->s->params.rope_magnitude = (float)magnitude;
    if (factor == 0.0 || factor == 1.0 || source_text_is(type, "none") ||
        source_text_is(type, "longrope")) {
        return ERR_OK;
    }
    return add_scaling(g, yarn, factor);
}

enum err gguf_read_rope(struct gguf *g)
{
    enum err e;

    if (g->s->params.rope == SOURCE_ROPE_NONE) {
        return ERR_OK;
    }
    e = read_scaling(g);
    if (e == ERR_OK) {
        e = add_factors_of_all(g);
    }
    if (e != ERR_OK) {
        return e;
    }
    return add_long_short(g);
}
