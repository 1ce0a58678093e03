/* Quantizes to the K formats with minima, Q5_K, Q4_K and Q2_K: x ~ scale * q - min, where q, scale
 * and min are not negative. First each part of a super-block is fitted. Then scales and minima are
 * rounded to the few bits in which they are stored, and values next to the rounded ones are tried.
 * Last, the two fp16 scales of all parts are fitted. Every choice minimizes the squared error,
 * weighted by h. */
#include "flash_image/quantize/quantize.h"

#include <math.h>
#include <string.h>

#include "flash_image/quantize/super_block.h"

struct mins_format {
    size_t parts, part; /* number of parts, and elements in a part */
    int32_t most_q;     /* of an element */
    int32_t most;       /* largest stored scale or min */
    const float
        *steps;     /* a part's range is divided by each of these: most_q and numbers close to it */
    size_t n_steps; /* number of steps */
    int rounds;     /* how often numbers are rounded, and d and dmin fitted again */
};

static struct fit_sums assign_part(const struct mins_format *f, const float *restrict x,
                                   const float *restrict h, float inverse, float min)
{
    int32_t q[SUPER_PART];

    for (size_t i = 0; i < f->part; i++) {
        q[i] = fit_nearest((x[i] + min) * inverse, 0, f->most_q);
    }
    return fit_sum(x, h, q, f->part);
}

/* A part, and its least squared error so far minus sum h x^2, which is the same for all choices. */
struct part {
    const float *x, *h;
    float sum_h, sum_x, least, most; /* sums of h, h x */
    double error;
    float scale, min;
};

/* Return the squared error of scale and min with the q of s, minus sum h x^2. */
static double error_part(const struct part *p, const struct fit_sums *s, float scale, float min)
{
    double a = (double)scale, m = (double)min;

    return a * a * (double)s->qq - 2 * a * (double)s->xq - 2 * a * m * (double)s->q +
           2 * m * (double)p->sum_x + (double)p->sum_h * m * m;
}

/* Find the best scale and min for the q of s; a min below 0 cannot be stored. */
static void solve_part(const struct part *p, const struct fit_sums *s, float *scale, float *min)
{
    double n = (double)p->sum_h, q = (double)s->q, qq = (double)s->qq, xq = (double)s->xq;
    double x = (double)p->sum_x, det = n * qq - q * q;

    *scale = 0.0f;
    *min = (float)(-x / n);    /* the solution if every q is the same */
    if (det > 1e-6 * n * qq) { /* a smaller det is only a rounding error */
        *scale = (float)((n * xq - q * x) / det);
        *min = (float)((q * xq - qq * x) / det);
    }
    /* Solve only for the scale, with a min of 0. */
    if (!(*min >= 0.0f)) {
        *min = 0.0f;
        *scale = (float)super_ratio_or_0(xq, qq);
    }
    *scale = fit_at_least(*scale, 0.0f);
}

static void open_part(const struct mins_format *f, struct part *p, const float *x, const float *h)
{
    *p = (struct part){ .x = x, .h = h, .least = x[0], .most = x[0] };
    for (size_t i = 0; i < f->part; i++) {
        p->sum_h += h[i];
        p->sum_x += h[i] * x[i];
        p->least = fit_at_most(p->least, x[i]);
        p->most = fit_at_least(p->most, x[i]);
    }
    p->least = fit_at_most(p->least, 0.0f); /* the min becomes -p->least, and may not be negative */
}

/* Try ranges around the extremes, from some that cut off both ends to some that leave a margin, and
 * find the best fit of each. */
static void fit_part(const struct mins_format *f, struct part *p)
{
    float range = p->most - p->least;

    p->min = -p->least;
    if (!(range > 0x1p-60f)) { /* all elements are equal: min alone represents them */
        return;
    }
    for (size_t i = 0; i < f->n_steps; i++) {
        float scale = range / f->steps[i];
        /* the same amount is cut off at both ends */
        float min = -p->least - 0.5f * (range - (float)f->most_q * scale);

        min = fit_at_least(min, 0.0f);
        for (int round = 0; round < 2; round++) {
            struct fit_sums s = assign_part(f, p->x, p->h, fit_inverse(scale), min);
            double error;

            /* Twice: compute q from the scale, then the best scale for these q. */
            solve_part(p, &s, &scale, &min);
            error = error_part(p, &s, scale, min);
            if (error < p->error) {
                p->error = error;
                p->scale = scale;
                p->min = min;
            }
        }
    }
}

/* The stored numbers of a part, the q that result, and the error. */
struct choice {
    int scale, min;
    struct fit_sums sums;
    double error;
};

struct block {
    uint16_t d, dmin;
    struct choice part[SUPER_PARTS];
    double error;
};

static struct choice measure_part(const struct mins_format *f, const struct block *b,
                                  const struct part *p, int scale, int min)
{
    float step = f32_from_f16(b->d) * (float)scale, low = f32_from_f16(b->dmin) * (float)min;
    struct choice c = { .scale = scale, .min = min };

    c.sums = assign_part(f, p->x, p->h, fit_inverse(step), low);
    c.error = error_part(p, &c.sums, step, low);
    return c;
}

/* Find the best choice near a part's rounded scale and min. */
static struct choice round_part(const struct mins_format *f, const struct block *b,
                                const struct part *p)
{
    float d = f32_from_f16(b->d), dmin = f32_from_f16(b->dmin);
    int scale = super_in_units(p->scale, d, 0, f->most);
    int min = super_in_units(p->min, dmin, 0, f->most);
    struct choice best = measure_part(f, b, p, scale, min);

    for (int i = 0; i < 9; i++) {
        /* Try the eight pairs of stored numbers next to this pair. */
        int a = scale + i / 3 - 1, m = min + i % 3 - 1;

        if (i != 4 && a >= 0 && a <= f->most && m >= 0 && m <= f->most) {
            struct choice c = measure_part(f, b, p, a, m);

            if (c.error < best.error) {
                best = c;
            }
        }
    }
    return best;
}

static void round_block(const struct mins_format *f, struct block *b, const struct part *parts)
{
    b->error = 0;
    for (size_t j = 0; j < f->parts; j++) {
        b->part[j] = round_part(f, b, &parts[j]);
        b->error += b->part[j].error;
    }
}

/* Fit d and dmin to the parts, then compute q again. The result is kept if it is better. */
static bool refit_block(const struct mins_format *f, struct block *b, const struct part *parts)
{
    double qq = 0, mq = 0, mm = 0, xq = 0, xm = 0, det, d, dmin;
    struct block fitted = { .error = 0 };

    for (size_t j = 0; j < f->parts; j++) {
        const struct choice *c = &b->part[j];
        double scale = c->scale, min = c->min;

        qq += scale * scale * (double)c->sums.qq;
        mq += scale * min * (double)c->sums.q;
        mm += (double)parts[j].sum_h * min * min;
        xq += scale * (double)c->sums.xq;
        xm += min * (double)parts[j].sum_x;
    }
    /* d and dmin solve two linear equations; if these depend on each other, each is solved
     * separately. */
    det = qq * mm - mq * mq;
    d = super_ratio_or_0(xq, qq);
    dmin = super_ratio_or_0(-xm, mm);
    if (det > 0) {
        d = (xq * mm - xm * mq) / det;
        dmin = (xq * mq - xm * qq) / det;
    }
    if (!(d >= 0 && d <= (double)FIT_F16_MOST && dmin >= 0 && dmin <= (double)FIT_F16_MOST)) {
        return false;
    }
    fitted.d = f16_from_f32((float)d);
    fitted.dmin = f16_from_f32((float)dmin);
    for (size_t j = 0; j < f->parts; j++) {
        fitted.part[j] = measure_part(f, &fitted, &parts[j], b->part[j].scale, b->part[j].min);
        fitted.error += fitted.part[j].error;
    }
    if (fitted.error >= b->error) {
        return false;
    }
    *b = fitted;
    return true;
}

/* Rounded scales change with d, so round again with the new d while that lowers the error. */
static void settle_block(const struct mins_format *f, struct block *b, const struct part *parts)
{
    round_block(f, b, parts);
    for (int i = 1; refit_block(f, b, parts) && i < f->rounds; i++) {
        struct block again = { .d = b->d, .dmin = b->dmin };

        round_block(f, &again, parts);
        if (again.error < b->error) {
            *b = again;
        }
    }
}

/* Fit all parts of a block. False: a scale exceeds fp16. */
static bool fit_block(const struct mins_format *f, const float *w, const float *h,
                      struct part *parts, struct block *b)
{
    float steps = (float)f->most, scale = 0.0f, min = 0.0f;

    for (size_t j = 0; j < f->parts; j++) {
        open_part(f, &parts[j], w + j * f->part, h + j * f->part);
        if (parts[j].most > FIT_F16_MOST * steps * (float)f->most_q ||
            -parts[j].least > FIT_F16_MOST * steps) {
            return false;
        }
        /* The largest scale and the largest min of all parts decide d and dmin. */
        fit_part(f, &parts[j]);
        scale = fit_at_least(parts[j].scale, scale);
        min = fit_at_least(parts[j].min, min);
    }
    scale = fit_at_most(scale, FIT_F16_MOST * steps); /* the search may slightly exceed the
                                                         limit */
    min = fit_at_most(min, FIT_F16_MOST * steps);
    b->d = super_scale_for(scale, steps);
    b->dmin = super_scale_for(min, steps);
    settle_block(f, b, parts);
    return true;
}

/* Compute q of part j with its stored scale and min. */
static void take_part(const struct mins_format *f, const struct block *b, const struct part *parts,
                      size_t j, unsigned *q)
{
    float step = f32_from_f16(b->d) * (float)b->part[j].scale;
    float low = f32_from_f16(b->dmin) * (float)b->part[j].min;
    float inverse = fit_inverse(step);

    for (size_t i = 0; i < f->part; i++) {
        q[i] = (unsigned)fit_nearest((parts[j].x[i] + low) * inverse, 0, f->most_q);
    }
}

/* ---- Q4_K, Q5_K ------------------------------------------------------------------------------ */

static const float steps_4[] = { 14.0f, 15.0f, 16.0f, 17.0f, 18.2f };
static const float steps_5[] = { 29.0f, 30.0f, 31.0f, 31.5f, 32.0f, 33.0f, 34.6f };
static const struct mins_format format_4 = { 8, 32, 15, 63, steps_4, 5, 1 };
static const struct mins_format format_5 = { 8, 32, 31, 63, steps_5, 7, 2 };

/* Store scales and mins of 6 bits in 12 bytes, packed as in GGML. */
static void store_scales(const struct block *b, uint8_t *s)
{
    for (size_t j = 0; j < 4; j++) {
        int scale = b->part[j + 4].scale, min = b->part[j + 4].min;

        s[j] = (uint8_t)(b->part[j].scale | scale >> 4 << 6);
        s[j + 4] = (uint8_t)(b->part[j].min | min >> 4 << 6);
        s[j + 8] = (uint8_t)((scale & 15) | (min & 15) << 4);
    }
}

/* high: where the fifth bits are stored; NULL if the type has none. */
static bool quantize_6_bits(const struct mins_format *f, const float *w, const float *h,
                            uint8_t *block, uint8_t *high, uint8_t *low)
{
    struct part parts[SUPER_PARTS];
    struct block b = { .error = 0 };

    if (!fit_block(f, w, h, parts, &b)) {
        return false;
    }
    fit_store_f16(block, b.d);
    fit_store_f16(block + 2, b.dmin);
    store_scales(&b, block + 4);
    /* Nibbles and high bits are added by OR, so start with zeros. */
    memset(block + 16, 0, (size_t)(low - block) - 16 + SUPER / 2);
    for (size_t j = 0; j < f->parts; j++) {
        unsigned q[SUPER_PART];
        uint8_t *to = low + j / 2 * 32; /* even parts in the low nibbles */

        take_part(f, &b, parts, j, q);
        for (size_t i = 0; i < f->part; i++) {
            to[i] = (uint8_t)(to[i] | (q[i] & 15) << (j % 2 * 4));
            if (high != NULL) {
                high[i] = (uint8_t)(high[i] | q[i] >> 4 << j);
            }
        }
    }
    return true;
}

/* The block: fp16 d and dmin, u8 scales[12], u8 q[128]. */
bool quantize_block_q4k(const float *w, const float *h, uint8_t *block)
{
    return quantize_6_bits(&format_4, w, h, block, NULL, block + 16);
}

/* The block: fp16 d and dmin, u8 scales[12], u8 high[32], u8 q[128]. */
bool quantize_block_q5k(const float *w, const float *h, uint8_t *block)
{
    return quantize_6_bits(&format_5, w, h, block, block + 16, block + 48);
}

/* ---- Q2_K ------------------------------------------------------------------------------------ */

static const float steps_2[] = { 1.8f, 2.0f, 2.2f, 2.4f, 2.6f, 2.8f, 3.0f, 3.2f, 3.4f, 3.7f, 4.0f };
static const struct mins_format format_2 = { 16, 16, 3, 15, steps_2, 11, 4 };

/* The block: u8 scales[16], u8 q[64], fp16 d and dmin. */
bool quantize_block_q2k(const float *w, const float *h, uint8_t *block)
{
    struct part parts[SUPER_PARTS];
    struct block b = { .error = 0 };

    if (!fit_block(&format_2, w, h, parts, &b)) {
        return false;
    }
    memset(block, 0, 80);
    for (size_t j = 0; j < format_2.parts; j++) {
        unsigned q[SUPER_PART];

        take_part(&format_2, &b, parts, j, q);
        block[j] = (uint8_t)(b.part[j].scale | b.part[j].min << 4);
        for (size_t i = 0; i < format_2.part; i++) {
            size_t c = j * 16 + i;
            /* Four quarters of 32 share a byte. */
            uint8_t *to = block + 16 + c / 128 * 32 + c % 32;

            *to = (uint8_t)(*to | q[i] << c % 128 / 32 * 2);
        }
    }
    fit_store_f16(block + 80, b.d);
    fit_store_f16(block + 82, b.dmin);
    return true;
}
