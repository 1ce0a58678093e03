/* Writes whole numbers of a range digit by digit. If both bounds have n digits, a number begins
 * with the first digit of the lower or the upper bound, or with a digit between the two. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "flash_image/grammar/json_schema_private.h"

enum { DIGITS = 20 };

static bool all(const char *digits, size_t n, char c)
{
    for (size_t i = 0; i < n; i++) {
        if (digits[i] != c) {
            return false;
        }
    }
    return true;
}

static void put_class(struct text *t, char low, char high)
{
    if (low == high) {
        text_format(t, "\"%c\"", low);
    } else {
        text_format(t, "[%c-%c]", low, high);
    }
}

static void put_free(struct text *t, char low, char high, size_t n)
{
    put_class(t, low, high);
    if (n != 0) {
        text_format(t, " [0-9]{%zu}", n);
    }
}

/* low and high have n digits. */
static void put_between(struct text *t, const char *low, const char *high, size_t n)
{
    char nines[DIGITS], zeros[DIGITS], first = low[0], last = high[0];
    bool bar = false;

    if (n == 0) {
        return;
    }
    memset(nines, '9', sizeof nines);
    memset(zeros, '0', sizeof zeros);
    if (all(low + 1, n - 1, '0') && all(high + 1, n - 1, '9')) {
        put_free(t, first, last, n - 1);
        return;
    }
    if (first == last) {
        put_class(t, first, first);
        text_put(t, " (");
        put_between(t, low + 1, high + 1, n - 1);
        text_put(t, ")");
        return;
    }
    if (!all(low + 1, n - 1, '0')) {
        put_class(t, first, first);
        text_put(t, " (");
        put_between(t, low + 1, nines, n - 1);
        text_put(t, ")");
        first++;
        bar = true;
    }
    if (!all(high + 1, n - 1, '9')) {
        last--;
    }
    if (first <= last) {
        text_put(t, bar ? " | " : "");
        put_free(t, first, last, n - 1);
        bar = true;
    }
    if (last != high[0]) {
        text_put(t, bar ? " | " : "");
        put_class(t, high[0], high[0]);
        text_put(t, " (");
        put_between(t, zeros, high + 1, n - 1);
        text_put(t, ")");
    }
}

/* Write the numbers low to high, with 0 <= low <= high. */
static void put_positive(struct text *t, int64_t low, int64_t high)
{
    bool bar = false;

    while (low <= high) {
        char from[DIGITS + 1], to[DIGITS + 1];
        int64_t end = 9;

        while (end < low) {
            end = end > (INT64_MAX - 9) / 10 ? high : end * 10 + 9;
        }
        end = end < high ? end : high;
        snprintf(from, sizeof from, "%" PRId64, low);
        snprintf(to, sizeof to, "%" PRId64, end);
        text_put(t, bar ? " | " : "");
        put_between(t, from, to, strlen(from));
        bar = true;
        low = end + 1;
    }
}

void text_integers(struct text *t, int64_t low, int64_t high)
{
    text_put(t, "(");
    if (low < 0) {
        text_put(t, "\"-\" (");
        put_positive(t, high < 0 ? -high : 1, -low);
        text_put(t, high < 0 ? ")" : ") | ");
    }
    if (high >= 0) {
        put_positive(t, low < 0 ? 0 : low, high);
    }
    text_put(t, ")");
}
