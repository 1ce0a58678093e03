#include "flash_image/quantize/quantize.h"

#include <math.h>
#include <string.h>

#include "flash_image/quantize/least_squares.h"

/* The range of q of a type with 32 elements and one scale. */
struct range {
    int32_t low, high;
};

static struct fit_sums assign(int32_t q[32], const float *restrict w, const float *restrict h,
                              uint16_t half, struct range r)
{
    float inverse = fit_inverse(f32_from_f16(half));

    for (size_t i = 0; i < 32; i++) {
        q[i] = fit_nearest(w[i] * inverse, r.low, r.high);
    }
    return fit_sum(w, h, q, 32);
}

/* Return the squared error minus sum h w^2, which is the same for all choices. */
static double relative_error(const struct fit_sums *s, uint16_t half)
{
    double d = (double)f32_from_f16(half);

    return d * (d * (double)s->qq - 2 * (double)s->xq);
}

/* A candidate for a block: its stored scale and its q. */
struct candidate {
    uint16_t half;
    int32_t q[32];
    double error; /* squared, summed */
};

static void measure(struct candidate *c, const float *w, const float *h)
{
    double d = (double)f32_from_f16(c->half);

    c->error = 0;
    for (size_t i = 0; i < 32; i++) {
        double miss = (double)w[i] - d * c->q[i];

        c->error += (double)h[i] * miss * miss;
    }
}

/* Try divisors that put the largest element near an end of the range, each followed by a
 * least-squares step. If the best candidate is better than *plain, it replaces *plain. */
static void search(struct candidate *plain, const float *w, const float *h, float extreme,
                   const float *divisors, size_t n, struct range r)
{
    struct candidate found = { .half = 0 };
    double best = 0;

    for (size_t i = 0; i < n; i++) {
        uint16_t half = f16_from_f32(extreme / divisors[i]);

        for (int round = 0; round < 2; round++) {
            int32_t q[32];
            struct fit_sums s = assign(q, w, h, half, r);
            double error = relative_error(&s, half);

            if (error < best) {
                best = error;
                found.half = half;
            }
            half = f16_from_f32(fit_step(&s));
        }
    }
    assign(found.q, w, h, found.half, r);
    measure(&found, w, h);
    if (found.error < plain->error) {
        *plain = found;
    }
}

static float extreme_of(const float *w)
{
    float extreme = 0.0f;

    for (size_t i = 0; i < 32; i++) {
        if (fabsf(w[i]) > fabsf(extreme)) {
            extreme = w[i];
        }
    }
    return extreme;
}

/* The block: fp16 d, int8 q[32]. */
bool quantize_block_q8(const float *w, const float *h, uint8_t *block)
{
    static const float divisors[] = { 127.0f, 127.4f, 126.0f, 125.0f, 123.5f, 121.0f };
    const struct range range = { -127, 127 };
    float extreme = fabsf(extreme_of(w));
    struct candidate best;

    if (extreme / 121.0f > FIT_F16_MOST) { /* the largest scale that is tried */
        return false;
    }
    if (extreme == 0) { /* saves time in matrices of zeros; a search would give the same
                           block */
        memset(block, 0, 34);
        return true;
    }
    best.half = f16_from_f32(extreme / 127.0f);
    assign(best.q, w, h, best.half, range);
    measure(&best, w, h);
    search(&best, w, h, extreme, divisors, sizeof divisors / sizeof divisors[0], range);
    fit_store_f16(block, best.half);
    for (size_t i = 0; i < 32; i++) {
        block[2 + i] = (uint8_t)(int8_t)best.q[i];
    }
    return true;
}

/* As in GGML, compute the nibbles from the exact scale, rounding half up, then round the scale to
 * fp16. */
static void plain_q4(struct candidate *c, const float *w, const float *h, float d)
{
    float inverse = 0.0f;

    if (d != 0.0f) {
        inverse = 1.0f / d;
    }
    c->half = f16_from_f32(d);
    for (size_t i = 0; i < 32; i++) {
        float x = fit_at_most(fit_at_least(w[i] * inverse + 8.5f, 0.0f), 15.0f);

        c->q[i] = (int)x - 8;
    }
    measure(c, w, h);
}

/* A range of inverse scales in Q4_PARTS equal parts. At the start of the range the largest element
 * is Q4_LEAST steps from 0, at the end Q4_MOST. In each part, some elements step to their next q;
 * add_qq and add_xq are the resulting changes of the sums of h q^2 and h x q. */
enum { Q4_LEAST = 4, Q4_MOST = 10, Q4_PARTS = 64 };

struct sweep {
    double qq, xq; /* at the start */
    float add_qq[Q4_PARTS], add_xq[Q4_PARTS];
};

/* Begin a sweep; sign: the sign of the scale. */
static void open_sweep(struct sweep *s, const float *w, const float *h, float sign, float extreme)
{
    float first = Q4_LEAST / extreme, parts = Q4_PARTS * extreme / (Q4_MOST - Q4_LEAST);

    *s = (struct sweep){ .qq = 0 };
    for (size_t i = 0; i < 32; i++) {
        float size = fabsf(w[i]), step = parts / size; /* infinite for 0 */
        float end = w[i] * sign > 0 ? 7 : 8, q = (float)fit_nearest(size * first, 0, (int32_t)end);
        float at = (q + 0.5f) * step - first * parts;

        s->qq += (double)(h[i] * q * q);
        s->xq += (double)(h[i] * size * q);
        for (; q < end && at < Q4_PARTS; q++, at += step) {
            size_t part = at > 0 ? (size_t)at : 0;

            s->add_qq[part] += h[i] * (2 * q + 1);
            s->add_xq[part] += h[i] * size;
        }
    }
}

/* Find the scale with the least squared error. For given q, the error with their best scale is
 * sum h w^2 - xq^2 / qq. */
static uint16_t sweep_q4(const struct sweep *s, float sign)
{
    double qq = s->qq, xq = s->xq, best_qq = qq, best_xq = xq;

    for (size_t i = 0; i < Q4_PARTS; i++) {
        qq += (double)s->add_qq[i];
        xq += (double)s->add_xq[i];
        if (xq * xq * best_qq > best_xq * best_xq * qq) {
            best_qq = qq;
            best_xq = xq;
        }
    }
    return f16_from_f32((float)(best_xq / best_qq) * sign);
}

bool quantize_block_q4(const float *w, const float *h, uint8_t *block)
{
    const struct range range = { -8, 7 };
    float extreme = extreme_of(w);
    struct candidate best;

    if (fabsf(extreme) / 7.0f > FIT_F16_MOST) {
        return false;
    }
    plain_q4(&best, w, h, extreme / -8.0f);
    /* A scale beyond fp16 makes the error infinite or NaN, which every comparison rejects. */
    for (int sign = -1; sign <= 1 && fabsf(extreme) > 0x1p-60f; sign += 2) {
        struct candidate c;
        struct sweep s;

        open_sweep(&s, w, h, (float)sign, fabsf(extreme));
        c.half = sweep_q4(&s, (float)sign);
        assign(c.q, w, h, c.half, range);
        measure(&c, w, h);
        if (c.error < best.error) {
            best = c;
        }
    }
    fit_store_f16(block, best.half);
    for (size_t i = 0; i < 16; i++) {
        block[2 + i] = (uint8_t)((best.q[i] + 8) | (best.q[i + 16] + 8) << 4);
    }
    return true;
}
