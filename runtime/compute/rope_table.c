#include "runtime/compute/rope_table.h"

#include <math.h>
#include <string.h>

#include "runtime/compute/natural_log.h"

#define PI_2_HI 0x1.921fb54442d18p+0 /* pi/2 in two doubles */
#define PI_2_LO 0x1.1a62633145c07p-54

/* e^x for -700 < x <= 0: argument reduction, then a Taylor series; relative error about 1e-16. */
static double exponential(double x)
{
    double n = (x * 0x1.71547652b82fep+0 + 0x1.8p+52) - 0x1.8p+52; /* nearest integer */
    double r = fma(n, -LN2_LO, fma(n, -LN2_HI, x));
    double sum = 1.0;
    uint64_t bits;
    double scale;

    for (int k = 18; k >= 1; k--) {
        sum = fma(sum, r / (double)k, 1.0);
    }
    bits = (uint64_t)((int64_t)n + 1023) << 52;
    memcpy(&scale, &bits, sizeof scale);
    return sum * scale;
}

/* sin and cos of x >= 0, x < 2^21: the quadrant from pi/2 in two doubles, then a Taylor series. */
static void sine_cosine(double x, double *sine, double *cosine)
{
    double n = (x * 0x1.45f306dc9c883p-1 + 0x1.8p+52) - 0x1.8p+52;
    double r = fma(n, -PI_2_LO, fma(n, -PI_2_HI, x));
    double r2 = r * r;
    double s = 1.0;
    double c = 1.0;
    unsigned quadrant = (unsigned)((int64_t)n & 3);

    for (int k = 20; k >= 2; k -= 2) {
        s = fma(s, -r2 / ((double)k * (double)(k + 1)), 1.0);
        c = fma(c, -r2 / ((double)(k - 1) * (double)k), 1.0);
    }
    s *= r;
    switch (quadrant) {
    case 0: *sine = s, *cosine = c; break;
    case 1: *sine = c, *cosine = -s; break;
    case 2: *sine = -s, *cosine = -c; break;
    default: *sine = -c, *cosine = s; break;
    }
}

void rope_table_row(float *out, uint32_t position, uint32_t d, float base, const float *factors)
{
    double log_base = natural_log((double)base);

    for (uint32_t i = 0; i < d / 2; i++) {
        double frequency = exponential(-log_base * (double)(2 * i) / (double)d);
        double sine, cosine;

        if (factors != NULL) {
            frequency /= (double)factors[i];
        }
        sine_cosine((double)position * frequency, &sine, &cosine);
        out[2 * i] = (float)cosine;
        out[2 * i + 1] = (float)sine;
    }
}
