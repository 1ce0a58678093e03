/* Shared by the quantizers: rounding to a few bits, and the sums of a least-squares fit. Loops have
 * no branches, and FIT_LANES partial sums are added in a fixed order, so the compiler can use
 * vectors and every machine gets the same bits. */
#ifndef INGOT_FLASH_IMAGE_LEAST_SQUARES_H
#define INGOT_FLASH_IMAGE_LEAST_SQUARES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/ref/scalar.h"

enum { FIT_LANES = 8 };

#define FIT_F16_MOST 65504.0f

static inline void fit_store_f16(uint8_t *p, uint16_t h)
{
    p[0] = (uint8_t)h;
    p[1] = (uint8_t)(h >> 8);
}

static inline float fit_at_most(float x, float limit)
{
    if (x < limit) {
        return x;
    }
    return limit;
}

static inline float fit_at_least(float x, float limit)
{
    if (x > limit) {
        return x;
    }
    return limit;
}

/* Round to the nearest integer (ties to even) within low .. high. If |x| is below 2^22, the bits of
 * x + 1.5 * 2^23 are the magic number plus the integer; for a larger |x| they still compare
 * correctly. There is no branch, so vectors can be used. */
static inline int32_t fit_nearest(float x, int32_t low, int32_t high)
{
    const int32_t magic = 0x4b400000;               /* 1.5 * 2^23 */
    int32_t z = (int32_t)f32_bits(x + 12582912.0f); /* never NaN, because factors are finite */

    z = z > magic + low ? z : magic + low;
    z = z < magic + high ? z : magic + high;
    return z - magic;
}

/* Return the inverse of a step, or 0 (so that q = 0) if the step is 0 or too small for fp16
 * scales. */
static inline float fit_inverse(float step)
{
    if (fabsf(step) > 0x1p-60f) {
        return 1.0f / step;
    }
    return 0.0f;
}

static inline float fit_fold(const float lane[FIT_LANES])
{
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* The importance if all weights count equally. */
static const float fit_ones[256] = {
#define FIT_1 \
    1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f
    FIT_1, FIT_1, FIT_1, FIT_1, FIT_1, FIT_1, FIT_1, FIT_1,
    FIT_1, FIT_1, FIT_1, FIT_1, FIT_1, FIT_1, FIT_1, FIT_1
#undef FIT_1
};

/* Sums over the elements of a part, for a least-squares fit with the chosen q; h is the weight of
 * each element's squared error. */
struct fit_sums {
    float q, qq, xq; /* sums of h q, h q^2, h x q */
};

/* Compute the sums; n is a multiple of FIT_LANES, and a constant after inlining. */
static inline struct fit_sums fit_sum(const float *restrict x, const float *restrict h,
                                      const int32_t *restrict q, size_t n)
{
    float lane_q[FIT_LANES] = { 0 }, lane_qq[FIT_LANES] = { 0 }, lane_xq[FIT_LANES] = { 0 };

    for (size_t i = 0; i < n; i += FIT_LANES) {
        for (size_t j = 0; j < FIT_LANES; j++) {
            float value = (float)q[i + j], part = h[i + j] * value;

            lane_q[j] += part;
            lane_qq[j] += part * value;
            lane_xq[j] += part * x[i + j];
        }
    }
    return (struct fit_sums){ fit_fold(lane_q), fit_fold(lane_qq), fit_fold(lane_xq) };
}

/* Return the step with the least squared error for these q; 0 if every q is 0. */
static inline float fit_step(const struct fit_sums *s)
{
    if (s->qq > 0) {
        return s->xq / s->qq;
    }
    return 0.0f;
}

#endif
