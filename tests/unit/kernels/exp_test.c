/* Tests the arithmetic that every kernel shares (kernels/ref/scalar.h): exp within 2 ulp, GELU,
 * sigmoid and softplus within 3 ulp of the exact value over their range, fp16 exact in one
 * direction and nearest even in the other. */
#include "kernels/ref/scalar.h"
#include "tests/unit/tap.h"

/* Returns the distance of one ulp of a float near `exact`; below 2^-126 that of the subnormals. */
static long double ulp_at(long double exact)
{
    int exponent;

    (void)frexpl(exact, &exponent);
    return ldexpl(1.0L, (exponent < -125 ? -125 : exponent) - 24);
}

static long double error_of_exp(float x)
{
    long double exact = expl((long double)x);

    return fabsl((long double)exp_f32(x) - exact) / ulp_at(exact);
}

/* The tanh form by its definition; below -1 by the identity, because 1 + tanh would cancel. */
static long double error_of_gelu(float x)
{
    long double sqrt_2_pi = sqrtl(2.0L / 3.14159265358979323846264338327950288L);
    long double wide = (long double)x;
    long double u = sqrt_2_pi * (wide + 0.044715L * wide * wide * wide);
    long double exact = u < -1.0L ? wide / (1.0L + expl(-2.0L * u))
                                  : 0.5L * wide * (1.0L + tanhl(u));

    return fabsl((long double)gelu_tanh_f32(x) - exact) / ulp_at(exact);
}

static long double error_of_sigmoid(float x)
{
    long double exact = 1.0L / (1.0L + expl(-(long double)x));

    return fabsl((long double)sigmoid_f32(x) - exact) / ulp_at(exact);
}

static long double error_of_softplus(float x)
{
    long double exact = log1pl(expl((long double)x));

    return fabsl((long double)softplus_f32(x) - exact) / ulp_at(exact);
}

/* Every 101st float between two of one sign: bit patterns order floats by magnitude. */
static void sweep(const char *name, float from, float to, long double (*error_of)(float),
                  long double bound)
{
    long double worst = 0;
    float worst_at = from;
    uint32_t n = 0;

    for (uint32_t bits = f32_bits(from); bits <= f32_bits(to); bits += 101, n++) {
        float x = f32_from_bits(bits);
        long double error = error_of(x);

        if (error > worst) {
            worst = error;
            worst_at = x;
        }
    }
    OK(n > 1000 && worst <= bound, "%s is within %.0Lf ulp: %.3Lf at %a, of %u values", name, bound,
       worst, (double)worst_at, n);
}

/* Results beyond the normal range still have no NaN, no wrong sign and no jump. */
static void test_gelu_edges(void)
{
    static const float zeros[] = { -16.0f, -40.0f, -1e30f };
    uint32_t wrong = 0;

    OK(f32_bits(gelu_tanh_f32(0.0f)) == 0 && f32_bits(gelu_tanh_f32(-0.0f)) == 0x80000000u,
       "gelu keeps zeros");
    OK(gelu_tanh_f32(16.0f) == 16.0f && gelu_tanh_f32(1e30f) == 1e30f &&
           isinf(gelu_tanh_f32(INFINITY)),
       "gelu of a large value is the value");
    for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++) {
        float y = gelu_tanh_f32(zeros[i]);

        wrong += y > 0.0f || y < -0x1p-100f;
    }
    OK(wrong == 0, "gelu of a very negative value vanishes");
    OK(isnan(gelu_tanh_f32(NAN)), "gelu of NaN is NaN");
    wrong = 0;
    for (uint32_t bits = f32_bits(-8.0f); bits <= f32_bits(-20.0f); bits += 10001) {
        float y = gelu_tanh_f32(f32_from_bits(bits));

        wrong += !(y <= 0.0f && y > -0x1p-40f);
    }
    OK(wrong == 0, "gelu stays small and negative from -8 to -20 (%u do not)", wrong);
}

static void test_exp_edges(void)
{
    OK(exp_f32(0.0f) == 1.0f && exp_f32(-0.0f) == 1.0f, "exp(0) is 1");
    OK(exp_f32(-104.0f) == 0.0f && exp_f32(-INFINITY) == 0.0f && exp_f32(-1e30f) == 0.0f,
       "exp of a very negative value underflows to 0");
    OK(exp_f32(NAN) == 0.0f, "exp of NaN counts as exp(-104)");
    OK(isinf(exp_f32(88.73f)) && isinf(exp_f32(INFINITY)) && isinf(exp_f32(1e30f)),
       "exp overflows to infinity");
    OK(isfinite(exp_f32(88.72f)), "exp(88.72) is finite");
    OK(f32_bits(exp_f32(-103.0f)) == 1, "exp(-103) is the least subnormal");
}

static void test_softplus_edges(void)
{
    OK(softplus_f32(0.0f) == (float)logl(2.0L), "softplus(0) is ln 2");
    OK(softplus_f32(20.5f) == 20.5f && isinf(softplus_f32(INFINITY)), "softplus of 20.5 is 20.5");
    OK(softplus_f32(-INFINITY) == 0.0f && softplus_f32(-200.0f) == 0.0f, "softplus vanishes");
    OK(isnan(softplus_f32(NAN)), "softplus of NaN is NaN");
    OK(sigmoid_f32(0.0f) == 0.5f && sigmoid_f32(INFINITY) == 1.0f && sigmoid_f32(-INFINITY) == 0.0f,
       "sigmoid is 1 / 2 at 0 and levels off");
}

/* Returns the value of a finite fp16, from the definition. */
static double value_of_f16(uint16_t h)
{
    int exponent = h >> 10 & 31;
    double fraction = (double)(h & 0x3ff);
    double magnitude = exponent == 0 ? ldexp(fraction, -24)
                                     : ldexp(fraction + 1024.0, exponent - 25);

    return h & 0x8000 ? -magnitude : magnitude;
}

static bool widens_right(uint16_t h)
{
    float f = f32_from_f16(h);

    if ((h & 0x7fff) > 0x7c00) {
        return isnan(f);
    }
    if ((h & 0x7fff) == 0x7c00) {
        return isinf(f) && !!signbit(f) == !!(h & 0x8000);
    }
    return (double)f == value_of_f16(h) && !!signbit(f) == !!(h & 0x8000);
}

static void test_f16_widening(void)
{
    uint32_t wrong = 0;
    uint32_t lost = 0;

    for (uint32_t h = 0; h < 65536; h++) {
        uint16_t back = f16_from_f32(f32_from_f16((uint16_t)h));

        wrong += !widens_right((uint16_t)h);
        lost += (h & 0x7fff) > 0x7c00 ? (back & 0x7fff) != 0x7e00 : back != h;
    }
    OK(wrong == 0, "all 65536 fp16 widen exactly (%u do not)", wrong);
    OK(lost == 0, "all 65536 fp16 come back from f32 (%u do not)", lost);
}

/* Between neighbours h and h + 1 of either sign: the middle goes to the even one, a float on
 * either side of it to the nearer one. 0x7bff's upper neighbour is infinity, at 65536. */
static void test_f16_rounding(void)
{
    uint32_t wrong = 0;

    for (uint32_t h = 0; h < 0x7c00; h++) {
        double above = h == 0x7bff ? 65536.0 : value_of_f16((uint16_t)(h + 1));
        float middle = (float)((value_of_f16((uint16_t)h) + above) / 2);
        uint32_t bits = f32_bits(middle);

        wrong += f16_from_f32(middle) != (h & 1 ? h + 1 : h);
        wrong += f16_from_f32(f32_from_bits(bits - 1)) != h;
        wrong += f16_from_f32(f32_from_bits(bits + 1)) != h + 1;
        wrong += f16_from_f32(-middle) != ((h & 1 ? h + 1 : h) | 0x8000);
    }
    OK(wrong == 0, "ties of fp16 go to even, their neighbours to the nearer (%u do not)", wrong);
    OK(f16_from_f32(1e30f) == 0x7c00 && f16_from_f32(-INFINITY) == 0xfc00,
       "fp16 overflows to infinity");
    OK(f16_from_f32(1e-30f) == 0 && f16_from_f32(-1e-30f) == 0x8000,
       "fp16 underflows to a zero of the same sign");
    OK((f16_from_f32(f32_from_bits(0x7f800001)) & 0x7fff) > 0x7c00, "NaN stays NaN as fp16");
}

static void test_fold(void)
{
    float lane[16] = { 0 };

    /* Only in the contract's order do the large ones cancel before the small ones are lost. */
    lane[0] = 0x1p30f;
    lane[8] = -0x1p30f;
    lane[1] = 1.0f;
    lane[6] = 0x1p-20f;
    OK(fold16(lane) == 1.0f + 0x1p-20f, "fold16 adds the upper half of 16 lanes to the lower");
}

int main(void)
{
    sweep("exp of [2^-30, 1]", 0x1p-30f, 1.0f, error_of_exp, 2);
    sweep("exp of [1, 88.72]", 1.0f, 88.72f, error_of_exp, 2);
    sweep("exp of [-1, -2^-30]", -0x1p-30f, -1.0f, error_of_exp, 2);
    sweep("exp of [-87.3, -1]", -1.0f, -87.3f, error_of_exp, 2);
    sweep("exp of [-103.9, -87.3], subnormal", -87.3f, -103.9f, error_of_exp, 2);
    sweep("gelu of [2^-30, 1]", 0x1p-30f, 1.0f, error_of_gelu, 3);
    sweep("gelu of [1, 20]", 1.0f, 20.0f, error_of_gelu, 3);
    sweep("gelu of [-1, -2^-30]", -0x1p-30f, -1.0f, error_of_gelu, 3);
    sweep("gelu of [-9.2, -1]", -1.0f, -9.2f, error_of_gelu, 3); /* to 2^-124 */
    sweep("sigmoid of [2^-30, 20]", 0x1p-30f, 20.0f, error_of_sigmoid, 3);
    sweep("sigmoid of [-87.3, -2^-30]", -0x1p-30f, -87.3f, error_of_sigmoid, 3);
    sweep("softplus of [2^-30, 30]", 0x1p-30f, 30.0f, error_of_softplus, 3);
    sweep("softplus of [-87.3, -2^-30]", -0x1p-30f, -87.3f, error_of_softplus, 3);
    test_gelu_edges();
    test_softplus_edges();
    test_exp_edges();
    test_f16_widening();
    test_f16_rounding();
    test_fold();
    return tap_done();
}
