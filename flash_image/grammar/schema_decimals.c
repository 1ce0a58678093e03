/* Writes numbers with a decimal point between two bounds: the digits before the point, then those
 * after it. A bound limits a digit only while all earlier digits equal those of the bound. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/schema.h"

enum { DECIMAL_BYTES = 48 };

bool decimal_of(double value, struct decimal *d)
{
    char text[DECIMAL_BYTES];
    double back;
    int places = 0;

    d->whole = floor(value);
    d->digits[0] = '\0';
    if (value > DECIMAL_WHOLE_MOST) {
        return false;
    }
    do {
        snprintf(text, sizeof text, "%.*f", places, value);
        back = strtod(text, NULL);
    } while (back != value && ++places <= DECIMAL_DIGITS);
    if (places > DECIMAL_DIGITS) {
        return false;
    }
    d->whole = floor(strtod(text, NULL));
    if (places != 0) {
        snprintf(d->digits, sizeof d->digits, "%s", strchr(text, '.') + 1);
    }
    for (size_t n = strlen(d->digits); n != 0 && d->digits[n - 1] == '0'; n--) {
        d->digits[n - 1] = '\0';
    }
    return true;
}

/* Digits after the point. A bound is NULL if it no longer applies. */
struct tail {
    const char *low, *high;
    bool above, below;
    unsigned most; /* digits that may be written */
};

static bool all_zeros(const char *digits)
{
    return digits[strspn(digits, "0")] == '\0';
}

static bool may_end(const struct tail *f)
{
    return (f->low == NULL || (all_zeros(f->low) && !f->above)) &&
           (f->high == NULL || !all_zeros(f->high) || !f->below);
}

static void put_digits(struct text *t, char low, char high, unsigned more)
{
    text_format(t, "[%c-%c]", low, high);
    if (more != 0) {
        text_format(t, " [0-9]{0,%u}", more);
    }
}

/* Write the other digits if neither bound limits them. */
static bool put_end(struct text *t, const struct tail *f)
{
    if (f->low == NULL && f->high == NULL) {
        put_digits(t, '0', '9', f->most - 1);
    } else if (f->high == NULL && !f->above) {
        put_digits(t, '0', '9', f->most - 1);
    } else if (f->high == NULL) {
        text_format(t, "\"0\"{0,%u} [1-9] [0-9]{0,%u}", f->most - 1, f->most - 1);
    } else if (f->below || (f->low != NULL && f->above)) {
        return false;
    } else {
        text_format(t, "\"0\"{1,%u}", f->most);
    }
    return true;
}

static bool put_tail(struct text *t, const struct tail *f);

/* Write a digit and its tail as an alternative; *bar: another alternative precedes it. */
static void put_step(struct text *t, char digit, const struct tail *after, bool *bar)
{
    struct text rest = { 0 };
    bool some = after->most != 0 && put_tail(&rest, after), end = may_end(after);

    if (some || end) {
        text_format(t, "%s\"%c\"", *bar ? " | " : "", digit);
        *bar = true;
    }
    if (some) {
        text_put(t, " (");
        text_put(t, rest.s);
        text_put(t, end ? ")?" : ")");
    }
    free(rest.s);
}

static char digit_of(const char *digits, char otherwise)
{
    if (digits == NULL) {
        return otherwise;
    }
    return digits[0] != '\0' ? digits[0] : '0';
}

static const char *next_of(const char *digits)
{
    return digits != NULL && digits[0] != '\0' ? digits + 1 : digits;
}

/* Write a tail of at least one digit. False: no such tail is allowed. */
static bool put_tail(struct text *t, const struct tail *f)
{
    char low = digit_of(f->low, '0'), high = digit_of(f->high, '9');
    struct tail after = *f;
    bool bar = false;

    if ((f->low == NULL || f->low[0] == '\0') && (f->high == NULL || f->high[0] == '\0')) {
        return put_end(t, f);
    }
    after.most--;
    after.low = next_of(f->low);
    after.high = next_of(f->high);
    if (f->low != NULL && f->high != NULL && low == high) {
        put_step(t, low, &after, &bar);
        return bar;
    }
    if (f->low != NULL) {
        struct tail one = after;

        one.high = NULL;
        put_step(t, low++, &one, &bar);
    }
    if (f->high != NULL) {
        struct tail one = after;

        one.low = NULL;
        put_step(t, high--, &one, &bar);
    }
    if (low <= high) {
        text_put(t, bar ? " | " : "");
        put_digits(t, low, high, after.most);
        bar = true;
    }
    return bar;
}

/* Write the fractions that may follow the number `whole`, which is already written. False: nothing
 * can follow, not even the end. */
static bool put_fraction(struct text *t, const char *whole, const struct tail *f, bool *bar)
{
    struct text digits = { 0 };
    bool some = f->most != 0 && put_tail(&digits, f), end = may_end(f);

    if (some || end) {
        text_format(t, "%s%s", *bar ? " | " : "", whole);
        *bar = true;
    }
    if (some) {
        text_put(t, " (\".\" (");
        text_put(t, digits.s);
        text_put(t, end ? "))?" : "))");
    }
    free(digits.s);
    return some || end;
}

bool decimal_put(struct text *t, const struct decimal *low, bool above, const struct decimal *high,
                 bool below, unsigned most)
{
    struct tail first = { low->digits, NULL, above, below, most },
                last = { NULL, high->digits, above, below, most };
    char whole[DECIMAL_BYTES];
    bool bar = false;

    snprintf(whole, sizeof whole, "\"%.0f\"", low->whole);
    if (low->whole == high->whole) {
        first.high = high->digits;
        return put_fraction(t, whole, &first, &bar);
    }
    (void)put_fraction(t, whole, &first, &bar);
    if (low->whole + 1 <= high->whole - 1) {
        text_put(t, bar ? " | " : "");
        text_integers(t, (int64_t)low->whole + 1, (int64_t)high->whole - 1);
        if (most != 0) {
            text_format(t, " (\".\" [0-9]{1,%u})?", most);
        }
        bar = true;
    }
    snprintf(whole, sizeof whole, "\"%.0f\"", high->whole);
    (void)put_fraction(t, whole, &last, &bar);
    return bar;
}
