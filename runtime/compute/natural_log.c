#include "runtime/compute/natural_log.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* x = 2^e * m with m in [sqrt(1/2), sqrt(2)), ln m = 2 atanh((m-1)/(m+1)). */
double natural_log(double x)
{
    uint64_t bits;
    double m, s, s2, sum, term;
    int e;

    memcpy(&bits, &x, sizeof bits);
    e = (int)(bits >> 52) - 1023;
    bits = (bits & 0x000fffffffffffffu) | 0x3ff0000000000000u;
    memcpy(&m, &bits, sizeof m);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        e++;
    }
    s = (m - 1.0) / (m + 1.0);
    s2 = s * s;
    sum = 0.0;
    term = s;
    for (int k = 1; k < 40; k += 2) { /* |s| < 0.172: s^41 / 41 is below 2^-100 */
        sum += term / (double)k;
        term *= s2;
    }
    return fma((double)e, LN2_HI, fma((double)e, LN2_LO, 2.0 * sum));
}
