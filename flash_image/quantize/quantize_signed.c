/* Quantizes to the K formats without minima, Q6_K and Q3_K: x ~ scale * q, both of either sign, in
 * parts of 16. The steps are those of quantize_mins.c: each part is fitted, then scales are
 * rounded, then the fp16 scale is fitted. */
#include "flash_image/quantize/quantize.h"

#include <math.h>
#include <string.h>

#include "flash_image/quantize/super_block.h"

enum { PARTS = 16, PART = 16 };

struct signed_format {
    int32_t low, high;   /* of q */
    int32_t least, most; /* of a stored scale */
    const float
        *steps; /* steps at which the element farthest from 0 is tried: both ends, and near them */
    size_t n_steps;
    int fits;   /* how often q is computed from a part's scale, for each step */
    int rounds; /* how often scales are rounded and d is fitted again */
};

static struct fit_sums assign(const struct signed_format *f, const float *restrict x,
                              const float *restrict h, float inverse)
{
    int32_t q[PART];

    for (size_t i = 0; i < PART; i++) {
        q[i] = fit_nearest(x[i] * inverse, f->low, f->high);
    }
    return fit_sum(x, h, q, PART);
}

/* Return the squared error of scale with the q of s, minus sum h x^2. */
static double error_of(const struct fit_sums *s, double scale)
{
    return scale * (scale * (double)s->qq - 2 * (double)s->xq);
}

/* Put the element farthest from 0 at either end of the range, or near it, and find the best scale
 * for the resulting q. */
static float fit_part(const struct signed_format *f, const float *x, const float *h)
{
    float extreme = 0.0f, best_scale = 0.0f;
    double best = 0;

    for (size_t i = 0; i < PART; i++) {
        if (fabsf(x[i]) > fabsf(extreme)) {
            extreme = x[i];
        }
    }
    for (size_t i = 0; extreme != 0.0f && i < f->n_steps; i++) {
        /* Put the extreme at this step, then fit the scale to the resulting q. */
        float inverse = f->steps[i] * fit_inverse(extreme);

        for (int j = 0; j < f->fits; j++) {
            struct fit_sums s = assign(f, x, h, inverse);
            float scale = fit_step(&s);
            double error = error_of(&s, (double)scale);

            if (error < best) {
                best = error;
                best_scale = scale;
            }
            inverse = fit_inverse(scale);
        }
    }
    return best_scale;
}

struct choice {
    int scale;
    struct fit_sums sums;
    double error;
};

struct block {
    uint16_t d;
    struct choice part[PARTS];
    double error;
};

static struct choice measure(const struct signed_format *f, uint16_t d, const float *x,
                             const float *h, int scale)
{
    float step = f32_from_f16(d) * (float)scale;
    struct choice c = { .scale = scale };

    c.sums = assign(f, x, h, fit_inverse(step));
    c.error = error_of(&c.sums, (double)step);
    return c;
}

static struct choice round_part(const struct signed_format *f, uint16_t d, const float *x,
                                const float *h, float wanted)
{
    int scale = super_in_units(wanted, f32_from_f16(d), f->least, f->most);
    struct choice best = measure(f, d, x, h, scale);

    /* A number next to the rounded one may fit better. */
    for (int a = scale - 1; a <= scale + 1; a += 2) {
        if (a >= f->least && a <= f->most) {
            struct choice c = measure(f, d, x, h, a);

            if (c.error < best.error) {
                best = c;
            }
        }
    }
    return best;
}

static void round_block(const struct signed_format *f, struct block *b, const float *w,
                        const float *h, const float *scales)
{
    b->error = 0;
    for (size_t j = 0; j < PARTS; j++) {
        b->part[j] = round_part(f, b->d, w + j * PART, h + j * PART, scales[j]);
        b->error += b->part[j].error;
    }
}

/* Fit d to the parts, then compute q again. The result is kept if it is better. */
static bool refit(const struct signed_format *f, struct block *b, const float *w, const float *h)
{
    double qq = 0, xq = 0;
    struct block fitted = { .error = 0 };

    for (size_t j = 0; j < PARTS; j++) {
        const struct choice *c = &b->part[j];

        /* d solves one linear equation over all parts with their current scales. */
        qq += (double)c->scale * c->scale * (double)c->sums.qq;
        xq += (double)c->scale * (double)c->sums.xq;
    }
    /* No better d: all elements are zeros, or d is beyond fp16. */
    if (!(qq > 0 && xq >= 0 && xq / qq <= (double)FIT_F16_MOST)) {
        return false;
    }
    fitted.d = f16_from_f32((float)(xq / qq));
    for (size_t j = 0; j < PARTS; j++) {
        fitted.part[j] = measure(f, fitted.d, w + j * PART, h + j * PART, b->part[j].scale);
        fitted.error += fitted.part[j].error;
    }
    if (fitted.error >= b->error) {
        return false;
    }
    *b = fitted;
    return true;
}

/* Fit all parts of a block. False: a scale exceeds fp16. */
static bool fit_block(const struct signed_format *f, const float *w, const float *h,
                      struct block *b)
{
    float scales[PARTS], steps = (float)f->most, most = 0.0f;

    /* No fp16 scale reaches a weight beyond this. */
    for (size_t i = 0; i < SUPER; i++) {
        if (fabsf(w[i]) > FIT_F16_MOST * steps * (float)f->high) {
            return false;
        }
    }
    for (size_t j = 0; j < PARTS; j++) {
        scales[j] = fit_part(f, w + j * PART, h + j * PART);
        most = fit_at_least(fabsf(scales[j]), most);
    }
    most = fit_at_most(most, FIT_F16_MOST * steps);
    /* The largest scale becomes the largest stored number. */
    b->d = super_scale_for(most, steps);
    round_block(f, b, w, h, scales);
    /* A new d changes the rounded scales: repeat while the error falls. */
    for (int i = 1; refit(f, b, w, h) && i < f->rounds; i++) {
        struct block again = { .d = b->d };

        round_block(f, &again, w, h, scales);
        if (again.error < b->error) {
            *b = again;
        }
    }
    return true;
}

/* Take q - low of part j, which is not negative. */
static void take_part(const struct signed_format *f, const struct block *b, const float *w,
                      size_t j, unsigned q[PART])
{
    float inverse = fit_inverse(f32_from_f16(b->d) * (float)b->part[j].scale);

    for (size_t i = 0; i < PART; i++) {
        q[i] = (unsigned)(fit_nearest(w[j * PART + i] * inverse, f->low, f->high) - f->low);
    }
}

/* ---- Q6_K ------------------------------------------------------------------------------------ */

static const float steps_6[] = { -30.0f, -31.0f, -32.0f, -33.0f, 30.0f, 31.0f, 32.0f, 33.0f };
static const struct signed_format format_6 = { -32, 31, -127, 127, steps_6, 8, 1, 1 };

/* Element c of 256 is in half c / 128, quarter c % 128 / 32, at l = c % 32. Quarters 0 and 1 are in
 * low nibbles, 2 and 3 in high nibbles; each quarter has two bits of the 32 high bytes. */
static void store_q6(uint8_t *block, size_t c, unsigned value)
{
    size_t half = c / 128, quarter = c % 128 / 32, l = c % 32;
    uint8_t *low = block + half * 64 + quarter % 2 * 32 + l;
    uint8_t *high = block + 128 + half * 32 + l;

    *low = (uint8_t)(*low | (value & 15) << quarter / 2 * 4);
    *high = (uint8_t)(*high | value >> 4 << quarter * 2);
}

/* The block: u8 low[128], u8 high[64], int8 scales[16], fp16 d. */
bool quantize_block_q6k(const float *w, const float *h, uint8_t *block)
{
    struct block b = { .error = 0 };

    if (!fit_block(&format_6, w, h, &b)) {
        return false;
    }
    /* The block begins as zeros, because store_q6 adds bits by an OR. */
    memset(block, 0, 192);
    for (size_t j = 0; j < PARTS; j++) {
        unsigned q[PART];

        take_part(&format_6, &b, w, j, q);
        for (size_t i = 0; i < PART; i++) {
            store_q6(block, j * PART + i, q[i]);
        }
        block[192 + j] = (uint8_t)(int8_t)b.part[j].scale;
    }
    fit_store_f16(block + 208, b.d);
    return true;
}

/* ---- Q3_K ------------------------------------------------------------------------------------ */

static const float steps_3[] = { -2.6f, -3.0f, -3.4f, -3.8f, -4.2f, -4.6f, -5.0f,
                                 2.2f,  2.6f,  3.0f,  3.4f,  3.8f,  4.2f,  4.6f };
static const struct signed_format format_3 = { -4, 3, -32, 31, steps_3, 14, 3, 3 };

/* u8 high[32], u8 low[64], u8 scales[12], fp16 d. Two bits are stored as in Q2_K, the third in the
 * mask before them. A scale is stored plus 32: 8 bytes have the low 4 bits of two parts each, and 4
 * bytes the high 2 bits of four parts each. */
bool quantize_block_q3k(const float *w, const float *h, uint8_t *block)
{
    struct block b = { .error = 0 };

    if (!fit_block(&format_3, w, h, &b)) {
        return false;
    }
    memset(block, 0, 108);
    for (size_t j = 0; j < PARTS; j++) {
        unsigned q[PART], scale = (unsigned)(b.part[j].scale + 32);
        uint8_t *scales = block + 96;

        take_part(&format_3, &b, w, j, q);
        for (size_t i = 0; i < PART; i++) {
            size_t c = j * PART + i;
            /* Two bits share a byte with the bits of three other quarters; the third bit is in the
             * mask. */
            uint8_t *low = block + 32 + c / 128 * 32 + c % 32;

            *low = (uint8_t)(*low | (q[i] & 3) << c % 128 / 32 * 2);
            block[c % 32] = (uint8_t)(block[c % 32] | q[i] >> 2 << c / 32);
        }
        /* A scale's low four bits and its high two bits are packed as in GGML. */
        scales[j % 8] = (uint8_t)(scales[j % 8] | (scale & 15) << j / 8 * 4);
        scales[8 + j % 4] = (uint8_t)(scales[8 + j % 4] | scale >> 4 << 2 * (j / 4));
    }
    fit_store_f16(block + 108, b.d);
    return true;
}
