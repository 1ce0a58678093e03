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

/* 's 't 're 've 'm 'll 'd; with any_case as (?i:...) has it, where U+017F is an s. */
static uint32_t match_contraction(const uint8_t *text, uint32_t at, uint32_t end, bool any_case)
{
    static const char pairs[3][2] = { { 'r', 'e' }, { 'v', 'e' }, { 'l', 'l' } };
    uint8_t fold = any_case ? 0x20 : 0;
    uint8_t a, b;

    if (end - at < 2 || text[at] != '\'') {
        return at;
    }
    a = text[at + 1] | fold;
    b = end - at > 2 ? text[at + 2] | fold : 0;
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

/* \s+(?!\S)|\s+ : a run but for its last character, which goes before the word that follows. */
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
    return to == end || last == at ? to : last;
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
        found = is_newline(s.code) ? to : found;
    }
}

uint32_t match_gpt2(const uint8_t *text, uint32_t at, uint32_t end, const void *rule)
{
    uint32_t to = match_contraction(text, at, end, false);
    uint32_t start = text[at] == ' ' ? at + 1 : at;
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

/* [CAPITAL]*[SMALL]+ : after the capitals a small letter must come; where none does, the last
 * of the capitals that counts as both is it, and the word ends with it. */
static uint32_t match_capitalized(const uint8_t *text, uint32_t at, uint32_t end)
{
    uint32_t both = at;
    uint32_t to = at;
    struct symbol s = match_symbol_at(text, to, end);

    while (s.set & CAPITAL) {
        to += s.bytes;
        both = s.set & SMALL ? to : both;
        s = match_symbol_at(text, to, end);
    }
    return s.set & SMALL ? match_skip_set(text, to, end, SMALL, UINT32_MAX) : both;
}

static uint32_t match_lead(const struct words *w, const uint8_t *text, uint32_t at, uint32_t end)
{
    struct symbol s = match_symbol_at(text, at, end);

    return is_newline(s.code) || (s.set & w->no_lead) != 0 ? at : at + s.bytes;
}

/* The lead is tried first and given back if no word follows. */
static uint32_t match_word(const struct words *w, const uint8_t *text, uint32_t at, uint32_t end)
{
    uint32_t starts[2] = { match_lead(w, text, at, end), at };
    uint32_t to;

    for (unsigned i = 0; i < 2; i++) {
        to = w->cased ? match_capitalized(text, starts[i], end)
                      : match_skip_set(text, starts[i], end, w->letters, UINT32_MAX);
        if (to != starts[i]) {
            return to;
        }
    }
    for (unsigned i = 0; i < 2 && w->cased; i++) { /* [CAPITAL]+[SMALL]*, the first having failed */
        to = match_skip_set(text, starts[i], end, CAPITAL, UINT32_MAX);
        if (to != starts[i]) {
            return to;
        }
    }
    return at;
}

static uint32_t match_ascii_word(const uint8_t *text, uint32_t at, uint32_t end)
{
    uint8_t c = text[at];
    uint32_t to = at + 1;

    if (c <= ' ' || c >= 0x7f || (c >= '0' && c <= '9') ||
        ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')) {
        return at;
    }
    while (to < end && (text[to] | 0x20) >= 'a' && (text[to] | 0x20) <= 'z') {
        to++;
    }
    return to == at + 1 ? at : to;
}

static uint32_t match_marks(const struct words *w, const uint8_t *text, uint32_t at, uint32_t end)
{
    uint32_t start = text[at] == ' ' ? at + 1 : at;
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

uint32_t match_words(const uint8_t *text, uint32_t at, uint32_t end, const void *rule)
{
    const struct words *w = rule;
    uint32_t to = at;

    if (w->contraction == CONTRACTION_WORD) {
        to = match_contraction(text, at, end, true);
    } else if (w->ascii_word) {
        to = match_ascii_word(text, at, end);
    }
    if (to != at) {
        return to;
    }
    to = match_word(w, text, at, end);
    if (to != at) {
        return w->contraction == CONTRACTION_SUFFIX ? match_contraction(text, to, end, true) : to;
    }
    to = match_skip_set(text, at, end, UNICODE_IS_N, w->digits);
    to = to != at ? to : match_marks(w, text, at, end);
    to = to != at ? to : match_newlines(text, at, end);
    return to != at ? to : match_spaces(text, at, end);
}

/* ---- single sets ----------------------------------------------------------------------------- */

static bool run_has(const struct run *r, const struct symbol *s)
{
    bool found = (s->set & r->set) != 0;
    uint32_t low = 0;
    uint32_t high = r->n_ranges;

    for (const char *c = r->ascii; c != NULL && *c != '\0' && !found; c++) {
        found = (uint8_t)*c == s->code;
    }
    while (low < high && !found) {
        uint32_t middle = low + (high - low) / 2;

        found = s->code >= r->ranges[middle].first && s->code <= r->ranges[middle].last;
        low = s->code > r->ranges[middle].last ? middle + 1 : low;
        high = s->code < r->ranges[middle].first ? middle : high;
    }
    return found != r->inverted;
}

uint32_t match_run(const uint8_t *text, uint32_t at, uint32_t end, const void *rule)
{
    const struct run *r = rule;
    struct symbol s = match_symbol_at(text, at, end);
    uint32_t start = at;
    uint32_t to;

    if ((r->any_space && (s.set & UNICODE_IS_SPACE)) || (r->space && s.code == ' ')) {
        start += s.bytes;
    }
    for (unsigned i = 0; i < 2; i++, start = at) { /* \s? gives back what is in the set itself */
        to = start;
        for (uint32_t n = 0; r->most == 0 || n < r->most; n++) {
            s = match_symbol_at(text, to, end);
            if (s.set == 0 || !run_has(r, &s)) {
                break;
            }
            to += s.bytes;
        }
        if (to != start) {
            return to;
        }
    }
    return at;
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
    return match_skip_set(text, at, end, UNICODE_IS_SPACE, UINT32_MAX) == end ? end : at;
}
