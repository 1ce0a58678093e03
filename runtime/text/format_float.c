#include "runtime/text/format_float.h"

#include <stdbool.h>

enum { FIXED = 10000, SMALLEST = -60 /* f32 needs no smaller decimal exponent */ };
#define DIGITS 1e8 /* 10^8, for eight digits after the point */
#define FIXED_MOST 1e9

const char *format_float(char buffer[FORMAT_NUMBER_BYTES], float x)
{
    double a = (double)x;
    const char *sign = "";
    int tens = 0;
    uint64_t digits;

    if (!(a - a == 0)) { /* infinity and NaN */
        format_text(buffer, FORMAT_NUMBER_BYTES, "null");
        return buffer;
    }
    if (a < 0) {
        a = -a;
        sign = "-";
    }
    while (a >= 10) {
        a /= 10;
        tens++;
    }
    while (a > 0 && a < 1 && tens > SMALLEST) {
        a *= 10;
        tens--;
    }
    digits = (uint64_t)(a * DIGITS + 0.5);
    if (digits == (uint64_t)(10 * DIGITS)) {
        digits /= 10;
        tens++;
    }
    if (digits == 0) {
        format_text(buffer, FORMAT_NUMBER_BYTES, "0");
    } else {
        format_text(buffer, FORMAT_NUMBER_BYTES, "%s%llu.%08llue%d", sign,
                    (unsigned long long)(digits / (uint64_t)DIGITS),
                    (unsigned long long)(digits % (uint64_t)DIGITS), tens);
    }
    return buffer;
}

const char *format_fixed(char buffer[FORMAT_NUMBER_BYTES], double x)
{
    bool below = x < 0;
    double a = below ? -x : x;
    uint64_t n;

    if (!(a < FIXED_MOST)) {
        format_text(buffer, FORMAT_NUMBER_BYTES, "null");
        return buffer;
    }
    n = (uint64_t)(a * FIXED + 0.5);
    format_text(buffer, FORMAT_NUMBER_BYTES, "%s%llu.%04u", below && n != 0 ? "-" : "",
                (unsigned long long)(n / FIXED), (unsigned)(n % FIXED));
    return buffer;
}
