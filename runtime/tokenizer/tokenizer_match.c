#include "runtime/tokenizer/tokenizer_match.h"

#include <stddef.h>

#include "runtime/text/utf8.h"

struct symbol match_symbol_at(const uint8_t *text, uint32_t at, uint32_t end)
{
    int bytes;
    uint32_t code;

    if (at >= end) {
        return (struct symbol){ 0, 0, 0 };
    }
    if (text[at] < 0x80) {
        return (struct symbol){ text[at], 1u << unicode_class(text[at]), 1 };
    }
    bytes = utf8_check(text + at, end - at);
    if (bytes <= 0) {
        return (struct symbol){ 0xfffd, UNICODE_IS_S, 1 };
    }
    code = utf8_decode(text + at, bytes);
    return (struct symbol){ code, 1u << unicode_class(code), (uint32_t)bytes };
}

static bool is_newline(uint32_t code)
{
    return code == '\r' || code == '\n';
}

uint32_t match_skip_set(const uint8_t *text, uint32_t at, uint32_t end, uint32_t set, uint32_t most)
{
    for (uint32_t n = 0; n < most; n++) {
        struct symbol s = match_symbol_at(text, at, end);

        if ((s.set & set) == 0) {
            break;
        }
        at += s.bytes;
    }
    return at;
}

/* 's 't 're 've 'm 'll 'd; any_case: as with (?i:...), where U+017F equals s. */
static uint32_t match_contraction(const uint8_t *text, uint32_t at, uint32_t end, bool any_case)
{
    static const char pairs[3][2] = { { 'r', 'e' }, { 'v', 'e' }, { 'l', 'l' } };
    uint8_t fold = any_case ? 0x20 : 0; /* makes ASCII letters lower case */
    uint8_t a, b;

    if (end - at < 2 || text[at] != '\'') {
        return at;
    }
    a = text[at + 1] | fold;
    b = 0;
    if (end - at > 2) {
        b = text[at + 2] | fold;
    }
    if (a == 's' || a == 't' || a == 'm' || a == 'd') {
        return at + 2;
    }
    if (any_case && end - at > 2 && text[at + 1] == 0xc5 && text[at + 2] == 0xbf) {
        return at + 3;
    }
    for (unsigned i = 0; i < 3; i++) {
        if (a == (uint8_t)pairs[i][0] && b == (uint8_t)pairs[i][1]) {
            return at + 3;
        }
    }
    return at;
}

/* \s+(?!\S)|\s+ : a run without its last character, which belongs to the following word. */
static uint32_t match_spaces(const uint8_t *text, uint32_t at, uint32_t end)
{
    uint32_t last = at;
    uint32_t to = at;

    for (;;) {
        struct symbol s = match_symbol_at(text, to, end);

        if ((s.set & UNICODE_IS_SPACE) == 0) {
            break;
        }
        last = to;
        to += s.bytes;
    }
    if (to == end || last == at) {
        return to;
    }
    return last;
}

/* \s*[\r\n]+ : white space up to the last line end in it. */
static uint32_t match_newlines(const uint8_t *text, uint32_t at, uint32_t end)
{
    uint32_t found = at;

    for (uint32_t to = at;;) {
        struct symbol s = match_symbol_at(text, to, end);

        if ((s.set & UNICODE_IS_SPACE) == 0) {
            return found;
        }
        to += s.bytes;
        if (is_newline(s.code)) {
            found = to;
        }
    }
}

uint32_t match_gpt2(const uint8_t *text, uint32_t at, uint32_t end, const void *rule)
{
    uint32_t to = match_contraction(text, at, end, false);
    uint32_t start = at + (text[at] == ' ');
    uint32_t set = match_symbol_at(text, start, end).set;

    (void)rule;
    if (to != at) {
        return to;
    }
    if (set & UNICODE_IS_L) {
        return match_skip_set(text, start, end, UNICODE_IS_L, UINT32_MAX);
    }
    if (set & UNICODE_IS_N) {
        return match_skip_set(text, start, end, UNICODE_IS_N, UINT32_MAX);
    }
    if (set != 0 && (set & UNICODE_IS_SPACE) == 0) {
        return match_skip_set(text, start, end,
                              ~(uint32_t)(UNICODE_IS_L | UNICODE_IS_N | UNICODE_IS_SPACE),
                              UINT32_MAX);
    }
    return match_spaces(text, at, end);
}

/* ---- words ----------------------------------------------------------------------------------- */

enum {
    CAPITAL = UNICODE_IS_LU | UNICODE_IS_LT | UNICODE_IS_LM | UNICODE_IS_LO | UNICODE_IS_M,
    SMALL = UNICODE_IS_LL | UNICODE_IS_LM | UNICODE_IS_LO | UNICODE_IS_M,
};

/* [CAPITAL]*[SMALL]+ : a small letter must follow the capitals; if none does, the last letter
 * that counts as both is the small letter, and the word ends with it. */
static uint32_t match_capitalized(const uint8_t *text, uint32_t at, uint32_t end)
{
    uint32_t both = at;
    uint32_t to = at;
    struct symbol s = match_symbol_at(text, to, end);

    while (s.set & CAPITAL) {
        to += s.bytes;
        if (s.set & SMALL) {
            both = to;
        }
        s = match_symbol_at(text, to, end);
    }
    if (s.set & SMALL) {
        return match_skip_set(text, to, end, SMALL, UINT32_MAX);
    }
    return both;
}

static uint32_t match_lead(const struct words *w, const uint8_t *text, uint32_t at, uint32_t end)
{
    struct symbol s = match_symbol_at(text, at, end);

    if (is_newline(s.code) || (s.set & w->no_lead) != 0) {
        return at;
    }
    return at + s.bytes;
}

static uint32_t match_letters(const struct words *w, const uint8_t *text, uint32_t at, uint32_t end)
{
    if (w->cased) {
        return match_capitalized(text, at, end);
    }
    return match_skip_set(text, at, end, w->letters, UINT32_MAX);
}

/* The leading character is taken first, and given back if no word follows. */
static uint32_t match_word(const struct words *w, const uint8_t *text, uint32_t at, uint32_t end)
{
    uint32_t starts[2] = { match_lead(w, text, at, end), at };

    for (unsigned i = 0; i < 2; i++) {
        uint32_t to = match_letters(w, text, starts[i], end);

        if (to != starts[i]) {
            return to;
        }
    }
    for (unsigned i = 0; i < 2 && w->cased; i++) { /* [CAPITAL]+[SMALL]*, after the first form
                                                    * failed */
        uint32_t to = match_skip_set(text, starts[i], end, CAPITAL, UINT32_MAX);

        if (to != starts[i]) {
            return to;
        }
    }
    return at;
}

static bool is_letter(uint8_t c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static uint32_t match_ascii_word(const uint8_t *text, uint32_t at, uint32_t end)
{
    uint8_t c = text[at];
    uint32_t to = at + 1;

    if (c <= ' ' || c >= 0x7f || (c >= '0' && c <= '9') || is_letter(c)) {
        return at;
    }
    while (to < end && is_letter(text[to])) {
        to++;
    }
    if (to == at + 1) {
        return at;
    }
    return to;
}

static uint32_t match_marks(const struct words *w, const uint8_t *text, uint32_t at, uint32_t end)
{
    uint32_t start = at + (text[at] == ' ');
    uint32_t to = match_skip_set(text, start, end, w->marks, UINT32_MAX);

    if (to == start) {
        return at;
    }
    while (w->newline_tail && to < end &&
           (is_newline(text[to]) || (w->slash_tail && text[to] == '/'))) {
        to++;
    }
    return to;
}

static uint32_t match_first(const struct words *w, const uint8_t *text, uint32_t at, uint32_t end)
{
    if (w->contraction == CONTRACTION_WORD) {
        return match_contraction(text, at, end, true);
    }
    if (w->ascii_word) {
        return match_ascii_word(text, at, end);
    }
    return at;
}

static uint32_t match_word_and_suffix(const struct words *w, const uint8_t *text, uint32_t at,
                                      uint32_t end)
{
    uint32_t to = match_word(w, text, at, end);

    if (to == at || w->contraction != CONTRACTION_SUFFIX) {
        return to;
    }
    return match_contraction(text, to, end, true);
}

static uint32_t match_digits(const struct words *w, const uint8_t *text, uint32_t at, uint32_t end)
{
    return match_skip_set(text, at, end, UNICODE_IS_N, w->digits);
}

uint32_t match_words(const uint8_t *text, uint32_t at, uint32_t end, const void *rule)
{
    typedef uint32_t alternative(const struct words *w, const uint8_t *text, uint32_t at,
                                 uint32_t end);
    static alternative *const alternatives[] = { match_first, match_word_and_suffix, match_digits,
                                                 match_marks };
    uint32_t to;

    for (unsigned i = 0; i < sizeof alternatives / sizeof alternatives[0]; i++) {
        to = alternatives[i](rule, text, at, end);
        if (to != at) {
            return to;
        }
    }
    to = match_newlines(text, at, end);
    if (to != at) {
        return to;
    }
    return match_spaces(text, at, end);
}

/* ---- single sets ----------------------------------------------------------------------------- */

static bool in_ranges(const struct run *r, uint32_t code)
{
    uint32_t low = 0;
    uint32_t high = r->n_ranges;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (code > r->ranges[middle].last) {
            low = middle + 1;
        } else if (code < r->ranges[middle].first) {
            high = middle;
        } else {
            return true;
        }
    }
    return false;
}

static bool in_ascii(const struct run *r, uint32_t code)
{
    for (const char *c = r->ascii; c != NULL && *c != '\0'; c++) {
        if ((uint8_t)*c == code) {
            return true;
        }
    }
    return false;
}

static bool run_has(const struct run *r, const struct symbol *s)
{
    bool found = (s->set & r->set) != 0 || in_ascii(r, s->code) || in_ranges(r, s->code);

    return found != r->inverted;
}

/* Match [set]{0,most}, with the set of run_has(). */
static uint32_t skip_run(const struct run *r, const uint8_t *text, uint32_t at, uint32_t end)
{
    for (uint32_t n = 0; r->most == 0 || n < r->most; n++) {
        struct symbol s = match_symbol_at(text, at, end);

        if (s.set == 0 || !run_has(r, &s)) {
            break;
        }
        at += s.bytes;
    }
    return at;
}

uint32_t match_run(const uint8_t *text, uint32_t at, uint32_t end, const void *rule)
{
    const struct run *r = rule;
    struct symbol s = match_symbol_at(text, at, end);
    uint32_t start = at, to;

    if ((r->any_space && (s.set & UNICODE_IS_SPACE)) || (r->space && s.code == ' ')) {
        start += s.bytes;
    }
    to = skip_run(r, text, start, end);
    if (to != start) {
        return to;
    }
    return skip_run(r, text, at, end); /* \s? gives back a character that is itself in the set */
}

uint32_t match_byte_digits(const uint8_t *text, uint32_t at, uint32_t end, const void *rule)
{
    (void)rule;
    while (at < end &&
           ((text[at] >= '0' && text[at] <= '9') || text[at] == 0xb2 || text[at] == 0xb3 ||
            text[at] == 0xb9 || (text[at] >= 0xbc && text[at] <= 0xbe))) {
        at++;
    }
    return at;
}

uint32_t match_three_digits(const uint8_t *text, uint32_t at, uint32_t end, const void *rule)
{
    (void)rule;
    for (uint32_t i = 0; i < 3; i++) {
        if (end - at <= i || text[at + i] < '0' || text[at + i] > '9') {
            return at;
        }
    }
    return at + 3;
}

uint32_t match_last_spaces(const uint8_t *text, uint32_t at, uint32_t end, const void *rule)
{
    (void)rule;
    if (match_skip_set(text, at, end, UNICODE_IS_SPACE, UINT32_MAX) != end) {
        return at;
    }
    return end;
}
