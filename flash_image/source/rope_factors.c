#include "flash_image/source/rope_factors.h"

#include <math.h>

enum err rope_factors_take(struct source *s)
{
    uint32_t n = s->params.rope_dims / 2;

    if (n > SOURCE_MAX_FACTORS) {
        return source_refuse(s, ERR_UNSUPPORTED,
                             "rope scaling covers %u dimensions of a head, but may cover at most "
                             "%u",
                             s->params.rope_dims, 2 * SOURCE_MAX_FACTORS);
    }
    for (uint32_t i = 0; s->rope == NULL && i < SOURCE_ROPE_SETS * n; i++) {
        s->factors[i] = 1.0f;
    }
    s->rope = s->factors;
    return ERR_OK;
}

static enum err multiply(struct source *s, enum source_rope_set set, uint32_t i, float by)
{
    float *factor = &s->rope[(uint32_t)set * (s->params.rope_dims / 2) + i];

    *factor *= by;
    if (!(*factor >= 0.5f && *factor <= 1e32f)) {
        return source_refuse(s, ERR_BAD_MODEL,
                             "a factor of rope scaling is %g, must be 0.5 to "
                             "10^32",
                             (double)*factor);
    }
    return ERR_OK;
}

enum err rope_factors_multiply(struct source *s, enum source_rope_set set, const float *by)
{
    enum err e = ERR_OK;

    for (uint32_t i = 0; e == ERR_OK && i < s->params.rope_dims / 2; i++) {
        e = multiply(s, set, i, by[i]);
    }
    return e;
}

enum err rope_factors_multiply_all(struct source *s, const float *by)
{
    const struct source_params *p = &s->params;
    enum err e = ERR_OK;

    for (int set = 0; e == ERR_OK && set < SOURCE_ROPE_SETS; set++) {
        if (set != SOURCE_ROPE_LOCAL ||
            (p->rope_base_local == p->rope_base && !p->rope_local_plain)) {
            e = rope_factors_multiply(s, (enum source_rope_set)set, by);
        }
    }
    return e;
}

enum err rope_factors_scale_all(struct source *s, float by)
{
    float factors[SOURCE_MAX_FACTORS];

    for (uint32_t i = 0; i < s->params.rope_dims / 2; i++) {
        factors[i] = by;
    }
    return rope_factors_multiply_all(s, factors);
}

/* Return the number of the pair of dimensions that makes `turns` turns within the context. */
static double pair_of_turns(const struct source_params *p, const struct rope_yarn *y, double turns)
{
    const double tau = 6.283185307179586;

    return (double)p->rope_dims * log((double)y->context / (turns * tau)) /
           (2.0 * log((double)p->rope_base));
}

enum err rope_factors_yarn_all(struct source *s, const struct rope_yarn *y)
{
    const struct source_params *p = &s->params;
    double first = pair_of_turns(p, y, y->beta_fast);
    double last = pair_of_turns(p, y, y->beta_slow);
    float factors[SOURCE_MAX_FACTORS];
    double span;

    if (!y->exact) {
        first = floor(first);
        last = ceil(last);
    }
    first = fmax(first, 0.0);
    last = fmin(last, (double)p->rope_dims - 1.0);
    span = last - first;
    if (span == 0.0 || !y->exact) { /* with a very short context, `last` may stay negative */
        span = fmax(span, 0.001);
    }
    for (uint32_t i = 0; i < p->rope_dims / 2; i++) {
        double ramp = fmin(fmax(((double)i - first) / span, 0.0), 1.0);

        /* Mix the frequency and the frequency divided by y->factor. */
        factors[i] = (float)(1.0 / (1.0 - ramp + ramp / y->factor));
    }
    return rope_factors_multiply_all(s, factors);
}

double rope_yarn_magnitude(double factor)
{
    if (factor > 1.0) {
        return 0.1 * log(factor) + 1.0;
    }
    return 1.0;
}
