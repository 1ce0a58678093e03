/* Numbers with bounds, and multiples. integer_range.c writes whole numbers of a range, and
 * schema_decimals.c numbers with a decimal point: the digits before the point, then those after it.
 * A bound limits a digit while all earlier digits equal those of the bound. Numbers with bounds
 * have no exponent. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/schema.h"

#define WHOLE_MOST DECIMAL_WHOLE_MOST

enum {
    MULTIPLES_MOST = 200,
    RESIDUES_MOST = 40,
    RESIDUE_RULES = 150,
    RESIDUE_DIGITS_LEAST = 9,
    TAILS_MOST = 50
};

struct bounds {
    double low, high;  /* -INFINITY, INFINITY: none */
    bool above, below; /* above: low is excluded; below: high is excluded */
};

static void raise_low(struct bounds *b, double value, bool out)
{
    if (value > b->low || (value == b->low && out)) {
        b->low = value;
        b->above = out;
    }
}

static void lower_high(struct bounds *b, double value, bool out)
{
    if (value < b->high || (value == b->high && out)) {
        b->high = value;
        b->below = out;
    }
}

/* Get the number of a keyword. In draft 4, exclusiveMinimum is a boolean that modifies minimum. */
static bool get(struct schema_maker *m, const cJSON *schema, const char *name, double *value)
{
    const cJSON *item = schema_get(schema, name);

    if (item == NULL || cJSON_IsBool(item)) {
        return false;
    }
    if (!cJSON_IsNumber(item)) {
        schema_note(m, schema, name, false);
        return false;
    }
    *value = item->valuedouble;
    return true;
}

static struct bounds bounds_of(struct schema_maker *m, const struct conj *c)
{
    struct bounds b = { -INFINITY, INFINITY, false, false };
    double value;

    for (unsigned i = 0; i < c->n; i++) {
        const cJSON *s = c->parts[i];

        if (get(m, s, "minimum", &value)) {
            raise_low(&b, value, cJSON_IsTrue(schema_get(s, "exclusiveMinimum")));
        }
        if (get(m, s, "exclusiveMinimum", &value)) {
            raise_low(&b, value, true);
        }
        if (get(m, s, "maximum", &value)) {
            lower_high(&b, value, cJSON_IsTrue(schema_get(s, "exclusiveMaximum")));
        }
        if (get(m, s, "exclusiveMaximum", &value)) {
            lower_high(&b, value, true);
        }
    }
    return b;
}

/* ---- whole numbers ---------------------------------------------------------------------------- */

/* The common multiple of the multipleOf values, for whole numbers; 0: it is too large to be
 * enforced. */
static double multiple_of(struct schema_maker *m, const struct conj *c)
{
    double all = 1, value;

    for (unsigned i = 0; i < c->n; i++) {
        double a, b;

        if (!get(m, c->parts[i], "multipleOf", &value)) {
            continue;
        }
        if (!(value > 0)) {
            schema_note(m, c->parts[i], "multipleOf", false);
            continue;
        }
        if (value < 1 && fabs(1 / value - round(1 / value)) < 1e-12 / value) {
            continue; /* every whole number is a multiple */
        }
        if (value != floor(value) || value > 1e9 || all == 0) {
            schema_note(m, c->parts[i], "multipleOf", true);
            all = 0;
            continue;
        }
        for (a = all, b = value; b != 0;) {
            double rest = fmod(a, b);

            a = b;
            b = rest;
        }
        all = all / a * value;
        if (all > 1e15) {
            schema_note(m, c->parts[i], "multipleOf", true);
            all = 0;
        }
    }
    return all;
}

/* useful[n][r] is true if n more digits can bring remainder r to 0. */
struct residues {
    unsigned of, first;
    bool useful[GRAMMAR_DIGITS_MOST][RESIDUES_MOST];
};

static void find_useful(struct residues *r, unsigned digits)
{
    for (unsigned left = 0; left < digits; left++) {
        for (unsigned rest = 0; rest < r->of; rest++) {
            r->useful[left][rest] = rest == 0;
            for (unsigned digit = 0; left != 0 && digit < 10; digit++) {
                r->useful[left][rest] |= r->useful[left - 1][(rest * 10 + digit) % r->of];
            }
        }
    }
}

/* Write the choice of digits from `digit` on, after which `left` digits may follow. */
static void put_digits(struct text *t, const struct residues *r, unsigned rest, unsigned digit,
                       unsigned left, const char *bar)
{
    for (; digit < 10; digit++) {
        unsigned then = (rest * 10 + digit) % r->of;

        if (r->useful[left][then]) {
            text_format(t, "%s\"%u\" s%u", bar, digit, r->first + left * r->of + then);
            bar = " | ";
        }
    }
}

/* Write the numbers that `of` divides, with a rule for each remainder so far and each number of
 * digits still allowed. */
static void put_residues(struct schema_maker *m, struct text *t, unsigned of)
{
    struct residues r = { .of = of, .first = m->n_extra };
    unsigned digits = RESIDUE_RULES / of;

    digits = digits > GRAMMAR_DIGITS_MOST ? GRAMMAR_DIGITS_MOST : digits;
    digits = digits < RESIDUE_DIGITS_LEAST ? RESIDUE_DIGITS_LEAST : digits;
    find_useful(&r, digits);
    m->n_extra += of * digits;
    for (unsigned i = 0; i < of * digits; i++) {
        unsigned left = i / of, rest = i % of;

        if (r.useful[left][rest]) {
            text_format(&m->out, "s%u ::= %s", r.first + i, rest == 0 ? "\"\"" : "");
            if (left != 0) {
                put_digits(&m->out, &r, rest, 0, left - 1, rest == 0 ? " | " : "");
            }
            text_put(&m->out, "\n");
        }
    }
    put_digits(t, &r, 0, 1, digits - 1, "");
}

/* Return how many of a number's last digits show whether it is a multiple; 0 if all are needed, or
 * too many values are possible. */
static unsigned tail_digits(unsigned of)
{
    unsigned power = 10;

    for (unsigned n = 1; n < 10 && power / of <= TAILS_MOST; n++, power *= 10) {
        if (power % of == 0) {
            return n;
        }
    }
    return 0;
}

static void put_tails(struct text *t, unsigned of, unsigned digits)
{
    unsigned power = 1;

    for (unsigned i = 0; i < digits; i++) {
        power *= 10;
    }
    for (unsigned i = of; i < power; i += of) {
        text_format(t, "\"%u\" | ", i);
    }
    text_format(t, "[1-9] [0-9]{0,%u} (", GRAMMAR_DIGITS_MOST - digits - 1);
    for (unsigned i = 0; i < power; i += of) {
        text_format(t, "%s\"%0*u\"", i != 0 ? " | " : "", (int)digits, i);
    }
    text_put(t, ")");
}

/* Write the multiples of at most GRAMMAR_DIGITS_MOST digits. */
static void put_any_multiple(struct schema_maker *m, struct text *t, unsigned of, bool negative)
{
    unsigned digits = tail_digits(of);

    text_format(t, "(\"0\" | %s(", negative ? "\"-\"? " : "");
    if (digits != 0) {
        put_tails(t, of, digits);
    } else {
        put_residues(m, t, of);
    }
    text_put(t, "))");
}

#define INTEGER_MOST 9223372036854774784.0 /* the largest double below 2^63 */

static int64_t to_int64(double value)
{
    value = value > INTEGER_MOST ? INTEGER_MOST : value;
    return (int64_t)(value < -INTEGER_MOST ? -INTEGER_MOST : value);
}

/* Write a whole number; 0 has no sign. */
static void put_one(struct text *t, double value)
{
    text_format(t, fabs(value) <= INTEGER_MOST ? "\"%.0f\"" : "\"%.17g\"", value + 0.0);
}

/* Write the whole numbers low .. high. If all are beyond 64 bits, only the number nearest to 0 is
 * written. */
static void put_integers(struct text *t, double low, double high)
{
    if (low > INTEGER_MOST || high < -INTEGER_MOST) {
        put_one(t, low > 0 ? low : high);
    } else {
        text_integers(t, to_int64(low), to_int64(high));
    }
}

static bool put_multiples(struct schema_maker *m, struct text *t, const struct conj *c, double low,
                          double high, double of)
{
    double first = ceil(low / of) * of, n = floor((high - first) / of) + 1;
    bool bounded = low > -WHOLE_MOST || high < WHOLE_MOST;

    if (n < 1) {
        return false;
    }
    if (n <= MULTIPLES_MOST) {
        text_put(t, "(");
        for (double i = 0; i < n; i++) {
            text_put(t, i != 0 ? " | " : "");
            put_one(t, first + i * of);
        }
        text_put(t, ")");
        return true;
    }
    if ((of <= RESIDUES_MOST || (of <= 1e9 && tail_digits((unsigned)of) != 0)) &&
        high >= WHOLE_MOST && (low <= -WHOLE_MOST || low == 0)) {
        put_any_multiple(m, t, (unsigned)of, low < 0);
        return true;
    }
    schema_note_each(m, c, "multipleOf");
    if (bounded) {
        put_integers(t, low, high);
    } else {
        text_put(t, "integer");
    }
    return true;
}

/* A bound with more digits than are supported is ignored, unless the whole range is beyond the
 * supported numbers. */
static bool put_whole(struct schema_maker *m, struct text *t, const struct conj *c, struct bounds b)
{
    double low = ceil(b.low) + (b.above && ceil(b.low) == b.low ? 1 : 0);
    double high = floor(b.high) - (b.below && floor(b.high) == b.high ? 1 : 0);
    double of = multiple_of(m, c);

    if (low <= WHOLE_MOST && high >= -WHOLE_MOST) {
        low = low < -WHOLE_MOST ? -WHOLE_MOST : low;
        high = high > WHOLE_MOST ? WHOLE_MOST : high;
    }
    if (low > high) {
        return false;
    }
    if (of > 1) {
        return put_multiples(m, t, c, low, high, of);
    }
    if (low <= -WHOLE_MOST && high >= WHOLE_MOST) {
        text_put(t, "integer");
    } else if (low == high) {
        put_one(t, low);
    } else {
        put_integers(t, low, high);
    }
    return true;
}

static double within(double value)
{
    return value > WHOLE_MOST ? WHOLE_MOST : (value < -WHOLE_MOST ? -WHOLE_MOST : value);
}

/* Write the numbers without a sign, then those with a sign; 0 has no sign. False if there are no
 * numbers. *known: true if the bounds can be written in digits. */
static bool put_bounded(struct text *t, struct bounds b, unsigned most, bool *known)
{
    struct text minus = { 0 }, plus = { 0 };
    struct decimal low, high;
    bool some = false;

    b.low = within(b.low);
    b.high = within(b.high);
    *known = true;
    if (b.low > b.high || (b.low == b.high && (b.above || b.below))) {
        return false;
    }
    if (b.low < 0) {
        bool to_zero = b.high >= 0;

        *known = decimal_of(to_zero ? 0 : -b.high, &low) && decimal_of(-b.low, &high);
        if (*known && decimal_put(&minus, &low, to_zero || b.below, &high, b.above, most)) {
            text_format(t, "\"-\" (");
            text_put(t, minus.s);
            text_put(t, ")");
            some = true;
        }
    }
    if (b.high >= 0 && *known) {
        *known = decimal_of(b.low > 0 ? b.low : 0, &low) && decimal_of(b.high, &high);
        if (*known && decimal_put(&plus, &low, b.low >= 0 && b.above, &high, b.below, most)) {
            text_put(t, some ? " | " : "");
            text_put(t, plus.s);
            some = true;
        }
    }
    free(minus.s);
    free(plus.s);
    return some;
}

/* The number of digits after the point that multipleOf allows; a step that is not a power of 10 is
 * checked afterwards. */
static unsigned places_of(struct schema_maker *m, const struct conj *c)
{
    unsigned places = DECIMAL_DIGITS;
    double value;

    for (unsigned i = 0; i < c->n; i++) {
        double power = 1;
        unsigned n = 0;

        if (!get(m, c->parts[i], "multipleOf", &value) || !(value > 0)) {
            continue;
        }
        while (n < 9 && fabs(value * power - round(value * power)) > 1e-9) {
            power *= 10;
            n++;
        }
        if (n == 9 || round(value * power) != 1) {
            schema_note(m, c->parts[i], "multipleOf", true);
        }
        places = n < places ? n : places;
    }
    return places;
}

static bool has_whole_multiple(const struct conj *c)
{
    for (unsigned i = 0; i < c->n; i++) {
        const cJSON *of = schema_get(c->parts[i], "multipleOf");

        if (cJSON_IsNumber(of) && of->valuedouble >= 1 &&
            of->valuedouble == floor(of->valuedouble)) {
            return true;
        }
    }
    return false;
}

bool schema_put_number(struct schema_maker *m, struct text *t, const struct conj *c, unsigned types)
{
    struct bounds b = bounds_of(m, c);
    bool bounded = b.low > -INFINITY || b.high < INFINITY, known, some;
    struct text own = { 0 };
    unsigned places;

    /* the numbers already use all supported digits, so no fraction follows */
    if ((types & TYPE_FRACTION) == 0 || has_whole_multiple(c) || b.low > WHOLE_MOST ||
        b.high < -WHOLE_MOST) {
        return put_whole(m, t, c, b);
    }
    places = places_of(m, c);
    if (!bounded && places == DECIMAL_DIGITS) {
        text_put(t, "number");
        return true;
    }
    text_put(&own, "(");
    some = put_bounded(&own, b, places, &known);
    text_put(&own, ")");
    if (!known) { /* bounds that cannot be written in digits, such as 1e-30 */
        static const char *const names[] = { "minimum", "maximum", "exclusiveMinimum",
                                             "exclusiveMaximum" };

        for (unsigned i = 0; i < 4; i++) {
            schema_note_each(m, c, names[i]);
        }
        text_put(t, "number");
    } else if (some) {
        text_put(t, own.s);
    }
    free(own.s);
    return some || !known;
}
