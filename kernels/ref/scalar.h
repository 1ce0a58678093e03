/* Scalar functions that several references share: the sum of 16 lanes, fp16, exp and functions made
 * from it. The polynomials are the project's own. Every ISA does the same operations in the same
 * order, so exp has the same bits everywhere, which C libraries do not promise. */
#ifndef INGOT_KERNELS_REF_SCALAR_H
#define INGOT_KERNELS_REF_SCALAR_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t f32_bits(float f)
{
    uint32_t u;

    memcpy(&u, &f, sizeof u);
    return u;
}

static inline float f32_from_bits(uint32_t u)
{
    float f;

    memcpy(&f, &u, sizeof f);
    return f;
}

/* Fold 16 lanes to 8, 4, 2 and 1: each time, add the upper half to the lower. Destroys lane[]. */
static inline float fold16(float lane[16])
{
    for (int half = 8; half >= 1; half /= 2) {
        for (int i = 0; i < half; i++) {
            lane[i] += lane[i + half];
        }
    }
    return lane[0];
}

/* The conversion is exact. fp16 has 5 bits of exponent with bias 15, f32 has 8 with bias 127. After
 * the shift the exponent is 112 too small, which the multiplication by 2^112 corrects. The
 * multiplication also normalizes subnormals, which f32 can hold as ordinary numbers. */
static inline float f32_from_f16(uint16_t h)
{
    uint32_t magnitude = (uint32_t)(h & 0x7fffu) << 13;
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16;

    if (magnitude >= 0x7c00u << 13) { /* infinity and NaN keep an all-ones exponent */
        return f32_from_bits(sign | magnitude | 0x7f800000u);
    }
    return f32_from_bits(sign | f32_bits(f32_from_bits(magnitude) * 0x1p112f));
}

/* bf16 is the upper half of a float's bits: a float of 8 bits of precision. */
static inline float f32_from_bf16(uint16_t h)
{
    return f32_from_bits((uint32_t)h << 16);
}

/* Rounds to nearest even; x must be finite and within the range of bf16. */
static inline uint16_t bf16_from_f32(float x)
{
    uint32_t bits = f32_bits(x);

    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* Rounds to nearest even; a number that is too large becomes infinity; NaN stays a quiet NaN.
 *
 * Ordinary numbers lose 13 bits of the fraction. First 0xfff plus the last kept bit is added: this
 * carries into the last kept bit if the lost bits are more than one half, or one half and the last
 * kept bit is 1. 0x38000000 is 112 << 23, for the difference of the biases. */
static inline uint16_t f16_from_f32(float f)
{
    uint32_t bits = f32_bits(f);
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t a = bits & 0x7fffffffu;

    if (a > 0x7f800000u) {
        return (uint16_t)(sign | 0x7e00u);
    }
    if (a >= 0x477ff000u) { /* 65520 and above round to infinity */
        return (uint16_t)(sign | 0x7c00u);
    }
    if (a < 0x38800000u) { /* below 2^-14: adding 0.5 leaves the subnormal in the low bits */
        return (uint16_t)(sign | (f32_bits(f32_from_bits(a) + 0.5f) - 0x3f000000u));
    }
    a += 0xfffu + (a >> 13 & 1u);
    return (uint16_t)(sign | ((a - 0x38000000u) >> 13));
}

/* e^(x + low), with |low| far below an ulp of x. The error is at most 2 ulp (tests/unit measures
 * it). The result is 0 below -104 and infinity above 88.73; NaN counts as -104.
 *
 * x = n ln 2 + r with n the integer nearest to x / ln 2, so |r| <= ln 2 / 2, and e^x = 2^n e^r.
 * Adding 1.5 2^23 rounds to n and leaves n in the low bits. n ln 2 is subtracted in two parts: n
 * times 0x1.62e430p-1 by an fma without a relevant error, then n times the rest of ln 2.
 *
 * e^r = 1 + r + r^2 q(r), q of degree 4 through the Chebyshev nodes of [-ln 2 / 2, ln 2 / 2], by
 * Horner's rule. The terms 1 and r are added last, exactly or nearly so.
 *
 * 2^n is multiplied in as 2^(n/2) twice: n is from -150 to 128, a wider range than the exponents of
 * a float, and a subnormal result rounds once, in the second product. */
static inline float exp_sum2_f32(float x, float low)
{
    const float magic = 12582912.0f; /* 1.5 * 2^23: leaves the nearest integer in the low bits */
    float z, n, r, q;
    int32_t i, half;

    x = x > -104.0f ? x : -104.0f;
    x = x < 89.0f ? x : 89.0f;
    z = fmaf(x, 0x1.715476p+0f, magic);
    i = (int32_t)(f32_bits(z) - f32_bits(magic));
    n = z - magic;
    r = fmaf(n, -0x1.62e430p-1f, x);
    r = fmaf(n, 0x1.05c610p-29f, r);
    r = r + low;
    q = 0x1.6d113cp-10f;
    q = fmaf(q, r, 0x1.120ba2p-7f);
    q = fmaf(q, r, 0x1.55551ap-5f);
    q = fmaf(q, r, 0x1.5554dcp-3f);
    q = fmaf(q, r, 0.5f);
    q = fmaf(q, r * r, r);
    q = q + 1.0f;
    half = i >> 1;
    q = q * f32_from_bits((uint32_t)(half + 127) << 23);
    return q * f32_from_bits((uint32_t)(i - half + 127) << 23);
}

/* e^x as above; r + 0 is r, so kernels omit that step. */
static inline float exp_f32(float x)
{
    return exp_sum2_f32(x, 0.0f);
}

/* Return the tanh form of GELU, x / (1 + exp(-u)), u = x (c1 + c3 x^2), c1 = 2 sqrt(2 / pi), c3 =
 * 0.044715 c1. exp turns an absolute error of u into a relative error of the result, and u can be
 * some hundreds. So u is carried as a sum u + low of two floats, and the error is at most 3 ulp
 * (tests/unit measures it) wherever the result is above 2^-124.
 *
 * fma(a, b, -(a b)) is the rounding error of the product a b. For the sum c1 + cubic both errors
 * are computed (two-sum), because either term may be larger. c1_low and c3_low are the rounding
 * errors of the constants. */
static inline float gelu_tanh_f32(float x)
{
    const float c1 = 0x1.988454p+0f, c1_low = -0x1.857936p-25f;
    const float c3 = 0x1.2444f2p-4f, c3_low = 0x1.49b16ap-29f;
    float v = x > -16.0f ? x : -16.0f; /* beyond these bounds e is 0 or infinity */
    float square, cubic, factor, rest, low, u, e;

    v = v < 16.0f ? v : 16.0f;
    square = v * v;
    cubic = c3 * square;
    factor = c1 + cubic;
    rest = factor - c1;
    low = (c1 - (factor - rest)) + (cubic - rest);
    low = low + fmaf(c3, square, -cubic);
    low = fmaf(c3, fmaf(v, v, -square), low);
    low = fmaf(c3_low, square, low);
    low = low + c1_low;
    u = v * factor;
    low = fmaf(v, low, fmaf(v, factor, -u));
    e = exp_sum2_f32(-u, -low);
    return x / (1.0f + e);
}

/* tanh x = (1 - e) / (1 + e), e = exp(-2 |x|), with the sign of x: e <= 1 never overflows. The
 * error is at most 2^-23. NaN stays NaN. */
static inline float tanh_f32(float x)
{
    float e = exp_f32(-2.0f * fabsf(x));

    return x != x ? x : copysignf((1.0f - e) / (1.0f + e), x);
}

/* 1 / (1 + e^-x): at most 3 ulp wherever it is above 2^-126. NaN counts as infinity. */
static inline float sigmoid_f32(float x)
{
    return 1.0f / (1.0f + exp_f32(-x));
}

/* ln(1 + e^x), with an error of at most 3 ulp where the result is above 2^-126; for x above 20, and
 * for NaN, the result is x itself.
 *
 * For t = e^-|x| <= 1, ln(1 + t) = 2 artanh(f), f = t / (2 + t) <= 1 / 3, which is
 * 2 f (1 + f^2 p(f^2)); p of degree 3 through the Chebyshev nodes of [0, 1 / 9]. A positive x is
 * added last: ln(1 + e^x) = x + ln(1 + e^-x). */
static inline float softplus_f32(float x)
{
    float t, f, square, p;

    if (!(x <= 20.0f)) {
        return x;
    }
    t = exp_f32(x > 0.0f ? -x : x);
    f = t / (2.0f + t);
    square = f * f;
    p = 0x1.12f598p-3f;
    p = fmaf(p, square, 0x1.21249ap-3f);
    p = fmaf(p, square, 0x1.99ad6cp-3f);
    p = fmaf(p, square, 0x1.55554cp-2f);
    f = f + f;
    f = fmaf(f * square, p, f);
    return x > 0.0f ? x + f : f;
}

#endif
