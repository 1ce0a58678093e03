/* Numbers in options. newlib's strtof allocates, and its strtoul does not know size suffixes. */
#include <float.h>
#include <stdlib.h>

#include "runtime/options/options.h"

/* A decimal number before rounding: digits * 10^exponent. */
struct decimal {
    uint64_t digits; /* the first 18 or 19 significant digits */
    int exponent;
    bool any;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *read_digits(const char *s, struct decimal *d, bool fraction)
{
    /* how a digit changes the exponent: by 1 if the digit does not fit, by -1 if it fits and is in
     * the fraction */
    int step = 1;

    if (fraction) {
        step = -1;
    }
    for (; is_digit(*s); s++) {
        bool fits = d->digits < UINT64_MAX / 10 - 9;

        if (fits) {
            d->digits = d->digits * 10 + (uint64_t)(*s - '0');
        }
        if (fits == fraction && d->exponent > -9999 && d->exponent < 9999) {
            d->exponent += step;
        }
        d->any = true;
    }
    return s;
}

/* Read "e-3" and add it to the exponent. Returns NULL if no digits follow. */
static const char *read_exponent(const char *s, struct decimal *d)
{
    bool negative;
    int value = 0;

    if (*s != 'e' && *s != 'E') {
        return s;
    }
    s++;
    negative = *s == '-';
    s += *s == '-' || *s == '+';
    if (!is_digit(*s)) {
        return NULL;
    }
    for (; is_digit(*s); s++) {
        if (value < 9999) {
            value = value * 10 + (*s - '0');
        }
    }
    if (negative) {
        value = -value;
    }
    d->exponent += value;
    return s;
}

/* Powers up to 10^22 are exact in f64, so a number of usual length is rounded only once. */
static double scale(const struct decimal *d)
{
    double value = (double)d->digits;
    bool down = d->exponent < 0;
    int left = abs(d->exponent);

    while (left > 0 && value > 0 && value < 1e300) {
        double power = 1;

        for (int i = 0; i < 22 && left > 0; i++, left--) {
            power *= 10;
        }
        value = down ? value / power : value * power;
    }
    return value;
}

bool options_read_float(const char *text, float *value)
{
    struct decimal d = { 0, 0, false };
    bool negative = *text == '-';
    const char *s = read_digits(text + (*text == '-' || *text == '+'), &d, false);
    double result;

    if (*s == '.') {
        s = read_digits(s + 1, &d, true);
    }
    if (!d.any) {
        return false;
    }
    s = read_exponent(s, &d);
    if (s == NULL || *s != '\0') {
        return false;
    }
    result = scale(&d);
    if (result > (double)FLT_MAX) {
        return false;
    }
    if (negative) {
        result = -result;
    }
    *value = (float)result;
    return true;
}

/* Return the value of a digit; -1: c is not a digit. */
static int digit_of(char c, unsigned base)
{
    if (is_digit(c)) {
        return c - '0';
    }
    if (base != 16) {
        return -1;
    }
    c |= 0x20; /* lower case */
    if (c < 'a' || c > 'f') {
        return -1;
    }
    return c - 'a' + 10;
}

static int letter_shift(char c)
{
    switch (c) {
    case 'K':
    case 'k': return 10;
    case 'M':
    case 'm': return 20;
    case 'G':
    case 'g': return 30;
    default: return 0;
    }
}

/* Return the exponent of 2 for the suffix s ("", K, KB, KiB ...), or -1 if it is not valid. */
static int size_shift(const char *s)
{
    int shift = letter_shift(*s);

    if (shift > 0) {
        s++;
        if (s[0] == 'i' && s[1] == 'B') {
            s += 2;
        } else if (s[0] == 'B') {
            s++;
        }
    }
    if (*s != '\0') {
        return -1;
    }
    return shift;
}

bool options_read_u64(const char *text, bool sizes, uint64_t *value)
{
    const char *s = text;
    uint64_t result = 0;
    unsigned base = 10;
    int shift;

    if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
        base = 16;
        s += 2;
    }
    if (digit_of(*s, base) < 0) {
        return false;
    }
    for (; digit_of(*s, base) >= 0; s++) {
        uint64_t digit = (uint64_t)digit_of(*s, base);

        if (result > (UINT64_MAX - digit) / base) {
            return false;
        }
        result = result * base + digit;
    }
    shift = size_shift(s);
    if (shift < 0 || (shift > 0 && !sizes) || result > UINT64_MAX >> shift) {
        return false;
    }
    *value = result << shift;
    return true;
}
