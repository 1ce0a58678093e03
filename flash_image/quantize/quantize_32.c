/* Quantizes to Q4_1, Q5_0 and Q5_1: 32 elements with one scale, and in some types a minimum. Scales
 * around GGML's plain rule are tried, each followed by steps of least squares. Each attempt is
 * measured with scale and minimum rounded to fp16, and the best is kept, so the result is never
 * worse than the plain rule. */
#include "flash_image/quantize/quantize.h"

#include <math.h>
#include <string.h>

#include "flash_image/quantize/least_squares.h"

enum { COLS = 32, ROUNDS = 3 };

struct block_format {
    int32_t low, high; /* of an element's q */
    bool has_min;
};

static const struct block_format format_q41 = { 0, 15, true };
static const struct block_format format_q51 = { 0, 31, true };
static const struct block_format format_q50 = { -16, 15, false };

/* One way to store a block. */
struct choice {
    uint16_t d, m;
    int32_t q[COLS];
    double error; /* sum of squared errors, weighted by h */
};

static void measure(struct choice *c, const struct block_format *f, const float *w, const float *h)
{
    float d = f32_from_f16(c->d), m = f32_from_f16(c->m), inverse = fit_inverse(d);

    c->error = 0;
    for (size_t i = 0; i < COLS; i++) {
        double miss;

        c->q[i] = fit_nearest((w[i] - m) * inverse, f->low, f->high);
        miss = (double)w[i] - ((double)d * c->q[i] + (double)m);
        c->error += (double)h[i] * miss * miss;
    }
}

/* Find the scale and minimum with the least squared error for the q of c. If q does not determine
 * them, scale and minimum do not change. */
static void solve(const struct choice *c, const struct block_format *f, const float *w,
                  const float *h, float *d, float *m)
{
    struct fit_sums s = fit_sum(w, h, c->q, COLS);
    double n = 0, x = 0, q = (double)s.q, qq = (double)s.qq, xq = (double)s.xq, det;

    if (!f->has_min) {
        *d = s.qq > 0 ? fit_step(&s) : *d;
        return;
    }
    for (size_t i = 0; i < COLS; i++) {
        n += (double)h[i];
        x += (double)h[i] * (double)w[i];
    }
    /* Solve two normal equations, unless det is so near to 0 that rounding errors would decide. */
    det = n * qq - q * q;
    if (det > 1e-6 * n * qq) {
        *d = (float)((n * xq - q * x) / det);
        *m = (float)((qq * x - q * xq) / det);
    }
}

/* A scale or minimum beyond fp16 makes the error infinite or NaN, which every comparison
 * rejects. */
static void try_scale(struct choice *best, const struct block_format *f, const float *w,
                      const float *h, float d, float m)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct choice c = { .d = f16_from_f32(d), .m = f16_from_f32(m) };

        measure(&c, f, w, h);
        if (c.error < best->error) {
            *best = c;
        }
        /* The next round starts with the best scale and minimum for these q. */
        solve(&c, f, w, h, &d, &m);
    }
}

/* Try ranges around the extremes: from some that cut off both ends to some that leave a margin. The
 * last range, with one step less, suits values that were quantized to one bit less before, because
 * their steps are twice as long. */
static bool fit_with_min(struct choice *best, const struct block_format *f, const float *w,
                         const float *h)
{
    float least = w[0], most = w[0], levels = (float)f->high;
    const float parts[] = { 1.0f, 0.9f, 0.95f, 1.05f, 1.15f, (levels - 1.0f) / levels };

    for (size_t i = 1; i < COLS; i++) {
        least = fit_at_most(least, w[i]);
        most = fit_at_least(most, w[i]);
    }
    if (!((most - least) / levels <= FIT_F16_MOST && fabsf(least) <= FIT_F16_MOST)) {
        return false;
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        float d = (most - least) / (levels * parts[i]);

        /* The same amount is cut off, or added, at both ends. */
        try_scale(best, f, w, h, d, least + 0.5f * (most - least - levels * d));
    }
    return true;
}

/* Put the largest element near an end of the range, with a scale of either sign. */
static bool fit_without_min(struct choice *best, const struct block_format *f, const float *w,
                            const float *h)
{
    static const float divisors[] = { -16.0f, -15.0f, -17.0f, -18.0f, 15.0f, 14.0f, 16.0f, 17.0f };
    float extreme = 0.0f;

    for (size_t i = 0; i < COLS; i++) {
        if (fabsf(w[i]) > fabsf(extreme)) {
            extreme = w[i];
        }
    }
    /* The scale would be beyond fp16 at both ends. */
    if (fabsf(extreme) / 16.0f > FIT_F16_MOST) {
        return false;
    }
    for (size_t i = 0; i < sizeof divisors / sizeof divisors[0]; i++) {
        try_scale(best, f, w, h, extreme / divisors[i], 0.0f);
    }
    return true;
}

static void store_nibbles(const struct choice *c, const struct block_format *f, uint8_t *to)
{
    for (size_t i = 0; i < COLS / 2; i++) {
        unsigned low = (unsigned)(c->q[i] - f->low) & 15;
        unsigned high = (unsigned)(c->q[i + COLS / 2] - f->low) & 15;

        to[i] = (uint8_t)(low | high << 4);
    }
}

static void store_fifths(const struct choice *c, const struct block_format *f, uint8_t *to)
{
    memset(to, 0, COLS / 8);
    for (size_t i = 0; i < COLS; i++) {
        to[i / 8] = (uint8_t)(to[i / 8] | ((unsigned)(c->q[i] - f->low) >> 4) << i % 8);
    }
}

/* The block: fp16 d and m, u8 q[16]: elements 0-15 in the low nibbles. */
bool quantize_block_q41(const float *w, const float *h, uint8_t *block)
{
    struct choice best = { .error = INFINITY };

    if (!fit_with_min(&best, &format_q41, w, h)) {
        return false;
    }
    fit_store_f16(block, best.d);
    fit_store_f16(block + 2, best.m);
    store_nibbles(&best, &format_q41, block + 4);
    return true;
}

/* The block: fp16 d, u8 high[4], u8 q[16]. */
bool quantize_block_q50(const float *w, const float *h, uint8_t *block)
{
    struct choice best = { .error = INFINITY };

    if (!fit_without_min(&best, &format_q50, w, h)) {
        return false;
    }
    fit_store_f16(block, best.d);
    store_fifths(&best, &format_q50, block + 2);
    store_nibbles(&best, &format_q50, block + 6);
    return true;
}

/* The block: fp16 d and m, u8 high[4], u8 q[16]. */
bool quantize_block_q51(const float *w, const float *h, uint8_t *block)
{
    struct choice best = { .error = INFINITY };

    if (!fit_with_min(&best, &format_q51, w, h)) {
        return false;
    }
    fit_store_f16(block, best.d);
    fit_store_f16(block + 2, best.m);
    store_fifths(&best, &format_q51, block + 4);
    store_nibbles(&best, &format_q51, block + 8);
    return true;
}
