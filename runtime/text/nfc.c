#include "runtime/text/nfc.h"

#include "runtime/text/nfc_table.h"
#include "runtime/text/utf8.h"

enum {
    FIRST_OF_ALL = 0x300, /* characters below this do not change, and do not compose with the
                           * character before */
    EXCLUDED = 128,
    /* Hangul: syllable = S + (L * V_COUNT + V) * T_COUNT + T; T 0 means no last part. */
    S = 0xac00,
    L = 0x1100,
    V = 0x1161,
    T = 0x11a7,
    L_COUNT = 19,
    V_COUNT = 21,
    T_COUNT = 28,
    S_COUNT = L_COUNT * V_COUNT * T_COUNT,
    MOST_PARTS = 4,
};

/* ---- tables ---------------------------------------------------------------------------------- */

/* Return the index of the last of n ascending entries that is at most code; n if none is. */
static unsigned find_first(const uint32_t *first, unsigned n, uint32_t code)
{
    unsigned low = 0, high = n;

    while (low < high) {
        unsigned middle = low + (high - low) / 2;

        if (first[middle] <= code) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? n : low - 1;
}

static unsigned combining_class(uint32_t code)
{
    unsigned i = find_first(nfc_mark_first, nfc_n_marks, code);

    if (i == nfc_n_marks || code - nfc_mark_first[i] >= nfc_mark_length[i]) {
        return 0;
    }
    return nfc_mark_class[i];
}

/* Find the entry of a code point in a table of ranges; returns false if there is none. */
static bool find_entry(const uint32_t *first, const uint16_t *entry, unsigned n, uint32_t code,
                       unsigned *found)
{
    unsigned i = find_first(first, n, code);

    if (i == n || code - first[i] >= (uint32_t)entry[i + 1] - entry[i]) {
        return false;
    }
    *found = entry[i] + (code - first[i]);
    return true;
}

static bool find_single(uint32_t code, unsigned *entry)
{
    return find_entry(nfc_single_first, nfc_single_entry, nfc_n_single, code, entry);
}

static bool find_pair(uint32_t code, unsigned *entry)
{
    return find_entry(nfc_pair_first, nfc_pair_entry, nfc_n_pairs, code, entry);
}

/* Return the index of a code point among the second parts of pairs, or nfc_n_seconds if it is not
 * one. */
static unsigned find_second(uint32_t code)
{
    unsigned i = find_first(nfc_seconds, nfc_n_seconds, code);

    return i != nfc_n_seconds && nfc_seconds[i] == code ? i : nfc_n_seconds;
}

static bool is_within(uint32_t code, uint32_t first, uint32_t count)
{
    return code >= first && code - first < count;
}

/* Compose two parts of a Hangul syllable, or a syllable without its last part and the last part;
 * returns 0 if this is not possible. */
static uint32_t compose_hangul(uint32_t a, uint32_t b)
{
    if (is_within(a, L, L_COUNT) && is_within(b, V, V_COUNT)) {
        return S + ((a - L) * V_COUNT + (b - V)) * T_COUNT;
    }
    if (is_within(a, S, S_COUNT) && (a - S) % T_COUNT == 0 && is_within(b, T + 1, T_COUNT - 1)) {
        return a + (b - T);
    }
    return 0;
}

/* Return the code point that a and b compose to; 0 if none. Few characters reach this function, so
 * searching all pairs is fast enough. */
static uint32_t compose(uint32_t a, uint32_t b)
{
    unsigned second = find_second(b);

    for (unsigned r = 0; second != nfc_n_seconds && r < nfc_n_pairs; r++) {
        for (unsigned i = nfc_pair_entry[r]; i < nfc_pair_entry[r + 1]; i++) {
            uint32_t code = nfc_pair_first[r] + (i - nfc_pair_entry[r]);

            if (nfc_pair_b[i] == second && nfc_pair_a[i] == (a & 0xffff) && code >> 16 == a >> 16) {
                return code;
            }
        }
    }
    return compose_hangul(a, b);
}

/* ---- the text -------------------------------------------------------------------------------- */

static bool may_change(uint32_t code)
{
    unsigned entry;

    if (code < FIRST_OF_ALL) {
        return false;
    }
    return combining_class(code) != 0 || find_single(code, &entry) ||
           (find_pair(code, &entry) && (nfc_pair_b[entry] & EXCLUDED) != 0) ||
           find_second(code) != nfc_n_seconds || is_within(code, V, V_COUNT) ||
           is_within(code, T + 1, T_COUNT - 1);
}

bool nfc_may_change(const uint8_t *text, size_t n)
{
    for (size_t i = 0; i < n;) {
        int bytes = text[i] < 0x80 ? 1 : utf8_check(text + i, n - i);

        if (bytes > 1 && may_change(utf8_decode(text + i, bytes))) {
            return true;
        }
        i += bytes > 0 ? (size_t)bytes : 1;
    }
    return false;
}

/* The current character: a starter (class 0), if any, and the marks after it in order of their
 * classes. */
struct composer {
    uint32_t code[NFC_MOST_MARKS + 1];
    uint8_t class[NFC_MOST_MARKS + 1];
    unsigned n;
    uint8_t *out, *end; /* output and the end of its room, which moves forward while an overlapping
                         * text is read */
    bool full;
};

static void write_code(struct composer *c, uint32_t code)
{
    char bytes[4];
    size_t n = utf8_encode(bytes, code);

    if (c->full || n > (size_t)(c->end - c->out)) {
        c->full = true;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        *c->out++ = (uint8_t)bytes[i];
    }
}

/* Compose marks with the starter, unless a mark of the same or a higher class stays between
 * them. */
static void compose_marks(struct composer *c)
{
    unsigned kept = 1;

    for (unsigned i = 1; c->n > 0 && c->class[0] == 0 && i < c->n; i++) {
        bool blocked = kept > 1 && c->class[kept - 1] >= c->class[i];
        uint32_t both = blocked ? 0 : compose(c->code[0], c->code[i]);

        if (both != 0) {
            c->code[0] = both;
        } else {
            c->code[kept] = c->code[i];
            c->class[kept++] = c->class[i];
        }
    }
    if (c->n > 0 && c->class[0] == 0) {
        c->n = kept;
    }
}

static void flush(struct composer *c)
{
    for (unsigned i = 0; i < c->n; i++) {
        write_code(c, c->code[i]);
    }
    c->n = 0;
}

/* A starter composes with the previous starter if no marks are left between them. */
static void take_starter(struct composer *c, uint32_t code)
{
    uint32_t both = 0;

    compose_marks(c);
    if (c->n == 1 && c->class[0] == 0) {
        both = compose(c->code[0], code);
    }
    if (both == 0) {
        flush(c);
        both = code;
    }
    c->code[0] = both;
    c->class[0] = 0;
    c->n = 1;
}

/* Insert a mark after the marks of its class and of lower classes. */
static void take_mark(struct composer *c, uint32_t code, uint8_t class)
{
    unsigned at;

    if (c->n > NFC_MOST_MARKS) {
        compose_marks(c);
        flush(c);
    }
    at = c->n++;
    while (at > 0 && c->class[at - 1] > class) {
        c->code[at] = c->code[at - 1];
        c->class[at] = c->class[at - 1];
        at--;
    }
    c->code[at] = code;
    c->class[at] = class;
}

static void take(struct composer *c, uint32_t code)
{
    unsigned class = combining_class(code);

    if (class == 0) {
        take_starter(c, code);
    } else {
        take_mark(c, code, (uint8_t) class);
    }
}

/* Take all parts of a code point; the first part may have parts itself. */
static void take_parts(struct composer *c, uint32_t code)
{
    uint32_t later[MOST_PARTS];
    unsigned n = 0, entry;

    for (;;) {
        if (n < MOST_PARTS && find_pair(code, &entry)) {
            later[n++] = nfc_seconds[nfc_pair_b[entry] & ~(unsigned)EXCLUDED];
            code = (code & 0xffff0000u) | nfc_pair_a[entry];
        } else if (find_single(code, &entry)) {
            code = (uint32_t)nfc_single_high[entry] << 16 | nfc_single_low[entry];
        } else {
            break;
        }
    }
    take(c, code);
    while (n > 0) {
        take(c, later[--n]);
    }
}

size_t nfc_normalize(const uint8_t *text, size_t n, uint8_t *out, size_t room)
{
    bool overlaps = out <= text && out + room > text;
    struct composer c = { .out = out, .end = out + room };

    for (size_t i = 0; i < n && !c.full;) {
        int bytes = utf8_check(text + i, n - i);
        uint32_t code = bytes > 0 ? utf8_decode(text + i, bytes) : text[i];

        i += bytes > 0 ? (size_t)bytes : 1;
        if (overlaps && (size_t)(text - out) + i <= room) {
            c.end = out + (text - out) + i;
        }
        if (bytes > 0) {
            take_parts(&c, code);
            continue;
        }
        compose_marks(&c);
        flush(&c);
        if (c.out < c.end) {
            *c.out++ = (uint8_t)code;
        } else {
            c.full = true;
        }
    }
    compose_marks(&c);
    flush(&c);
    return c.full ? SIZE_MAX : (size_t)(c.out - out);
}
