/* Floats to the K formats. A super-block's parts are fitted one by one, then their scales are
 * rounded to the few bits they are stored in, tried again around that rounding, and the fp16
 * scale of all is fitted last. Every choice is by least squares, in which an element counts
 * as much as h says. */
#include "flash_image/quantize/quantize.h"

#include <math.h>
#include <string.h>

#include "flash_image/quantize/least_squares.h"

enum { SUPER = 256, Q4_PART = 32, Q4_PARTS = 8, Q6_PART = 16, Q6_PARTS = 16 };

/* The fp16 scale whose `steps` steps reach `most`: rounded up where fp16 is too coarse to round
 * it to the nearest without the largest part falling off the end. */
static uint16_t scale_for(float most, float steps)
{
    uint16_t half = f16_from_f32(most / steps);

    if (most > 0.0f && most > f32_from_f16(half) * (steps + 0.5f)) {
        half++;
    }
    return half;
}

static double ratio_or_0(double a, double b)
{
    if (b > 0) {
        return a / b;
    }
    return 0;
}

/* wanted in units, 0 .. most or -most .. most; without a unit 0. */
static int in_units(float wanted, float unit, int32_t least, int32_t most)
{
    if (unit > 0.0f) {
        return fit_nearest(wanted / unit, least, most);
    }
    return 0;
}

/* ---- Q4_K: x ~ scale * q - min, q of 0 .. 15, scale and min not negative --------------------- */

static struct fit_sums assign_q4(const float *restrict x, const float *restrict h, float inverse,
                                 float min)
{
    int32_t q[Q4_PART];

    for (size_t i = 0; i < Q4_PART; i++) {
        q[i] = fit_nearest((x[i] + min) * inverse, 0, 15);
    }
    return fit_sum(x, h, q, Q4_PART);
}

/* A part, and the least squared error of it so far, less sum h x^2, which all choices share. */
struct q4_part {
    const float *x, *h;
    float sum_h, sum_x, least, most; /* sums of h, h x */
    double error;
    float scale, min;
};

/* The error, less sum h x^2, of scale and min with the q of s. */
static double error_q4(const struct q4_part *p, const struct fit_sums *s, float scale, float min)
{
    double a = (double)scale, m = (double)min;

    return a * a * (double)s->qq - 2 * a * (double)s->xq - 2 * a * m * (double)s->q +
           2 * m * (double)p->sum_x + (double)p->sum_h * m * m;
}

/* The best scale and min for the q of s; a min below 0 cannot be stored. */
static void solve_q4(const struct q4_part *p, const struct fit_sums *s, float *scale, float *min)
{
    double n = (double)p->sum_h, q = (double)s->q, qq = (double)s->qq, xq = (double)s->xq;
    double x = (double)p->sum_x, det = n * qq - q * q;

    *scale = 0.0f;
    *min = (float)(-x / n);    /* where every q is the same */
    if (det > 1e-6 * n * qq) { /* else rounding alone makes it more than 0 */
        *scale = (float)((n * xq - q * x) / det);
        *min = (float)((q * xq - qq * x) / det);
    }
    if (!(*min >= 0.0f)) {
        *min = 0.0f;
        *scale = (float)ratio_or_0(xq, qq);
    }
    *scale = fit_at_least(*scale, 0.0f);
}

static void open_q4(struct q4_part *p, const float *x, const float *h)
{
    *p = (struct q4_part){ .x = x, .h = h, .least = x[0], .most = x[0] };
    for (size_t i = 0; i < Q4_PART; i++) {
        p->sum_h += h[i];
        p->sum_x += h[i] * x[i];
        p->least = fit_at_most(p->least, x[i]);
        p->most = fit_at_least(p->most, x[i]);
    }
    p->least = fit_at_most(p->least, 0.0f); /* -min, and a min is not negative */
}

/* Ranges around the extremes, from cutting both off to leaving room: the best fit of each. */
static void fit_q4(struct q4_part *p)
{
    static const float steps[] = { 14.0f, 15.0f, 16.0f, 17.0f, 18.2f };
    float range = p->most - p->least;

    p->min = -p->least;
    if (!(range > 0x1p-60f)) { /* all equal: min alone says it */
        return;
    }
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        float scale = range / steps[i];
        float min = -p->least - 0.5f * (range - 15.0f * scale); /* what is cut, cut evenly */

        min = fit_at_least(min, 0.0f);
        for (int round = 0; round < 2; round++) {
            struct fit_sums s = assign_q4(p->x, p->h, fit_inverse(scale), min);
            double error;

            solve_q4(p, &s, &scale, &min);
            error = error_q4(p, &s, scale, min);
            if (error < p->error) {
                p->error = error;
                p->scale = scale;
                p->min = min;
            }
        }
    }
}

/* The stored numbers of a part, what q they lead to, and the error. */
struct q4_choice {
    int scale, min; /* 0 .. 63 */
    struct fit_sums sums;
    double error;
};

struct q4_block {
    uint16_t d, dmin;
    struct q4_choice part[Q4_PARTS];
    double error;
};

static struct q4_choice measure_q4(const struct q4_block *b, const struct q4_part *p, int scale,
                                   int min)
{
    float step = f32_from_f16(b->d) * (float)scale, low = f32_from_f16(b->dmin) * (float)min;
    struct q4_choice c = { .scale = scale, .min = min };

    c.sums = assign_q4(p->x, p->h, fit_inverse(step), low);
    c.error = error_q4(p, &c.sums, step, low);
    return c;
}

/* The best of a part near what its scale and min are rounded to. */
static struct q4_choice round_q4(const struct q4_block *b, const struct q4_part *p)
{
    float d = f32_from_f16(b->d), dmin = f32_from_f16(b->dmin);
    int scale = in_units(p->scale, d, 0, 63), min = in_units(p->min, dmin, 0, 63);
    struct q4_choice best = measure_q4(b, p, scale, min);

    for (int i = 0; i < 9; i++) {
        int a = scale + i / 3 - 1, m = min + i % 3 - 1;

        if (i != 4 && a >= 0 && a <= 63 && m >= 0 && m <= 63) {
            struct q4_choice c = measure_q4(b, p, a, m);

            if (c.error < best.error) {
                best = c;
            }
        }
    }
    return best;
}

/* The d and dmin that fit the parts as they are, and q once more with them: kept if better. */
static void refit_q4(struct q4_block *b, const struct q4_part *parts)
{
    double qq = 0, mq = 0, mm = 0, xq = 0, xm = 0, det, d, dmin;
    struct q4_block fitted = { .error = 0 };

    for (size_t j = 0; j < Q4_PARTS; j++) {
        const struct q4_choice *c = &b->part[j];
        double scale = c->scale, min = c->min;

        qq += scale * scale * (double)c->sums.qq;
        mq += scale * min * (double)c->sums.q;
        mm += (double)parts[j].sum_h * min * min;
        xq += scale * (double)c->sums.xq;
        xm += min * (double)parts[j].sum_x;
    }
    det = qq * mm - mq * mq;
    d = ratio_or_0(xq, qq);
    dmin = ratio_or_0(-xm, mm);
    if (det > 0) {
        d = (xq * mm - xm * mq) / det;
        dmin = (xq * mq - xm * qq) / det;
    }
    if (!(d >= 0 && d <= (double)FIT_F16_MOST && dmin >= 0 && dmin <= (double)FIT_F16_MOST)) {
        return;
    }
    fitted.d = f16_from_f32((float)d);
    fitted.dmin = f16_from_f32((float)dmin);
    for (size_t j = 0; j < Q4_PARTS; j++) {
        fitted.part[j] = measure_q4(&fitted, &parts[j], b->part[j].scale, b->part[j].min);
        fitted.error += fitted.part[j].error;
    }
    if (fitted.error < b->error) {
        *b = fitted;
    }
}

/* The 12 bytes of 6-bit scales and mins as GGML packs them. */
static void store_scales_q4(const struct q4_block *b, uint8_t *s)
{
    for (size_t j = 0; j < 4; j++) {
        int scale = b->part[j + 4].scale, min = b->part[j + 4].min;

        s[j] = (uint8_t)(b->part[j].scale | scale >> 4 << 6);
        s[j + 4] = (uint8_t)(b->part[j].min | min >> 4 << 6);
        s[j + 8] = (uint8_t)((scale & 15) | (min & 15) << 4);
    }
}

static void store_q4(const struct q4_block *b, const struct q4_part *parts, uint8_t *block)
{
    fit_store_f16(block, b->d);
    fit_store_f16(block + 2, b->dmin);
    store_scales_q4(b, block + 4);
    memset(block + 16, 0, SUPER / 2);
    for (size_t j = 0; j < Q4_PARTS; j++) {
        float step = f32_from_f16(b->d) * (float)b->part[j].scale;
        float low = f32_from_f16(b->dmin) * (float)b->part[j].min;
        float inverse = fit_inverse(step);
        uint8_t *q = block + 16 + j / 2 * Q4_PART; /* even parts in the low nibbles */

        for (size_t i = 0; i < Q4_PART; i++) {
            unsigned value = (unsigned)fit_nearest((parts[j].x[i] + low) * inverse, 0, 15);

            q[i] = (uint8_t)(q[i] | value << (j % 2 * 4));
        }
    }
}

bool quantize_block_q4k(const float *w, const float *h, uint8_t *block)
{
    struct q4_part parts[Q4_PARTS];
    struct q4_block b = { .error = 0 };
    float scale = 0.0f, min = 0.0f;

    for (size_t j = 0; j < Q4_PARTS; j++) {
        open_q4(&parts[j], w + j * Q4_PART, h + j * Q4_PART);
        if (parts[j].most > FIT_F16_MOST * 63.0f * 15.0f ||
            -parts[j].least > FIT_F16_MOST * 63.0f) {
            return false;
        }
        fit_q4(&parts[j]);
        scale = fit_at_least(parts[j].scale, scale);
        min = fit_at_least(parts[j].min, min);
    }
    scale = fit_at_most(scale, FIT_F16_MOST * 63.0f); /* the search may step just over the edge */
    min = fit_at_most(min, FIT_F16_MOST * 63.0f);
    b.d = scale_for(scale, 63.0f);
    b.dmin = scale_for(min, 63.0f);
    for (size_t j = 0; j < Q4_PARTS; j++) {
        b.part[j] = round_q4(&b, &parts[j]);
        b.error += b.part[j].error;
    }
    refit_q4(&b, parts);
    store_q4(&b, parts, block);
    return true;
}

/* ---- Q6_K: x ~ scale * q, q of -32 .. 31, scale of either sign ------------------------------- */

static struct fit_sums assign_q6(const float *restrict x, const float *restrict h, float inverse)
{
    int32_t q[Q6_PART];

    for (size_t i = 0; i < Q6_PART; i++) {
        q[i] = fit_nearest(x[i] * inverse, -32, 31);
    }
    return fit_sum(x, h, q, Q6_PART);
}

/* The error, less sum h x^2, of scale with the q of s. */
static double error_q6(const struct fit_sums *s, double scale)
{
    return scale * (scale * (double)s->qq - 2 * (double)s->xq);
}

/* The element farthest from 0 to either end of the range or a little beyond, and the best scale
 * for the q that this gives. */
static float fit_q6(const float *x, const float *h)
{
    static const float steps[] = { -30.0f, -31.0f, -32.0f, -33.0f, 30.0f, 31.0f, 32.0f, 33.0f };
    float extreme = 0.0f, best_scale = 0.0f;
    double best = 0;

    for (size_t i = 0; i < Q6_PART; i++) {
        if (fabsf(x[i]) > fabsf(extreme)) {
            extreme = x[i];
        }
    }
    for (size_t i = 0; extreme != 0.0f && i < sizeof steps / sizeof steps[0]; i++) {
        struct fit_sums s = assign_q6(x, h, steps[i] * fit_inverse(extreme));
        float scale = fit_step(&s);
        double error = error_q6(&s, (double)scale);

        if (error < best) {
            best = error;
            best_scale = scale;
        }
    }
    return best_scale;
}

struct q6_choice {
    int scale; /* -127 .. 127 */
    struct fit_sums sums;
    double error;
};

struct q6_block {
    uint16_t d;
    struct q6_choice part[Q6_PARTS];
    double error;
};

static struct q6_choice measure_q6(uint16_t d, const float *x, const float *h, int scale)
{
    float step = f32_from_f16(d) * (float)scale;
    struct q6_choice c = { .scale = scale };

    c.sums = assign_q6(x, h, fit_inverse(step));
    c.error = error_q6(&c.sums, (double)step);
    return c;
}

static struct q6_choice round_q6(uint16_t d, const float *x, const float *h, float wanted)
{
    int scale = in_units(wanted, f32_from_f16(d), -127, 127);
    struct q6_choice best = measure_q6(d, x, h, scale);

    for (int a = scale - 1; a <= scale + 1; a += 2) {
        if (a >= -127 && a <= 127) {
            struct q6_choice c = measure_q6(d, x, h, a);

            if (c.error < best.error) {
                best = c;
            }
        }
    }
    return best;
}

/* As refit_q4. */
static void refit_q6(struct q6_block *b, const float *w, const float *h)
{
    double qq = 0, xq = 0;
    struct q6_block fitted = { .error = 0 };

    for (size_t j = 0; j < Q6_PARTS; j++) {
        const struct q6_choice *c = &b->part[j];

        qq += (double)c->scale * c->scale * (double)c->sums.qq;
        xq += (double)c->scale * (double)c->sums.xq;
    }
    if (!(qq > 0 && xq >= 0 && xq / qq <= (double)FIT_F16_MOST)) {
        return;
    }
    fitted.d = f16_from_f32((float)(xq / qq));
    for (size_t j = 0; j < Q6_PARTS; j++) {
        fitted.part[j] = measure_q6(fitted.d, w + j * Q6_PART, h + j * Q6_PART, b->part[j].scale);
        fitted.error += fitted.part[j].error;
    }
    if (fitted.error < b->error) {
        *b = fitted;
    }
}

/* Element c of the 256 is in half c / 128, quarter c % 128 / 32, at l = c % 32: low nibbles of
 * quarters 0 and 1, high nibbles of 2 and 3, and two bits each of the 32 high bytes. */
static void store_q6(const struct q6_block *b, const float *w, uint8_t *block)
{
    memset(block, 0, 192);
    for (size_t j = 0; j < Q6_PARTS; j++) {
        float step = f32_from_f16(b->d) * (float)b->part[j].scale;
        float inverse = fit_inverse(step);

        for (size_t c = j * Q6_PART; c < (j + 1) * Q6_PART; c++) {
            int value = fit_nearest(w[c] * inverse, -32, 31) + 32;
            size_t half = c / 128, quarter = c % 128 / 32, l = c % 32;
            uint8_t *low = block + half * 64 + quarter % 2 * 32 + l;
            uint8_t *high = block + 128 + half * 32 + l;

            *low = (uint8_t)(*low | (value & 15) << quarter / 2 * 4);
            *high = (uint8_t)(*high | value >> 4 << quarter * 2);
        }
        block[192 + j] = (uint8_t)(int8_t)b->part[j].scale;
    }
    fit_store_f16(block + 208, b->d);
}

bool quantize_block_q6k(const float *w, const float *h, uint8_t *block)
{
    struct q6_block b = { .error = 0 };
    float scales[Q6_PARTS];
    float most = 0.0f;

    for (size_t i = 0; i < SUPER; i++) {
        if (fabsf(w[i]) > FIT_F16_MOST * 127.0f * 31.0f) {
            return false;
        }
    }
    for (size_t j = 0; j < Q6_PARTS; j++) {
        scales[j] = fit_q6(w + j * Q6_PART, h + j * Q6_PART);
        most = fit_at_least(fabsf(scales[j]), most);
    }
    most = fit_at_most(most, FIT_F16_MOST * 127.0f);
    b.d = scale_for(most, 127.0f);
    for (size_t j = 0; j < Q6_PARTS; j++) {
        b.part[j] = round_q6(b.d, w + j * Q6_PART, h + j * Q6_PART, scales[j]);
        b.error += b.part[j].error;
    }
    refit_q6(&b, w, h);
    store_q6(&b, w, block);
    return true;
}
