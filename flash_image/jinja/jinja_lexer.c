#include "flash_image/jinja/jinja_lexer.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/jinja/jinja_text.h"

enum { MOST_BRACKETS = 64, MOST_NUMBER = 40 };

struct lexer {
    struct jinja *j;
    struct jinja_text source;
    size_t at;
    struct jinja_tokens out;
    bool line_begins; /* the last token ends a line */
    char bracket[MOST_BRACKETS];
    unsigned n_brackets;
};

static struct jinja_token *add(struct lexer *l, enum jinja_token_kind kind, size_t start,
                               size_t bytes)
{
    struct jinja_tokens *o = &l->out;

    jinja_step(l->j);
    if (o->n == o->room) {
        o->room = o->room * 2 + 256;
        o->token = jinja_grow(l->j, o->token, o->n * sizeof *o->token, o->room * sizeof *o->token);
    }
    o->token[o->n] = (struct jinja_token){ .kind = kind,
                                           .line = l->j->line,
                                           .text = { l->source.data + start, bytes } };
    return &o->token[o->n++];
}

static bool looking_at(const struct lexer *l, const char *what)
{
    size_t n = strlen(what);

    return l->source.bytes - l->at >= n && memcmp(l->source.data + l->at, what, n) == 0;
}

static char peek(const struct lexer *l, size_t ahead)
{
    return ahead < l->source.bytes - l->at ? l->source.data[l->at + ahead] : '\0';
}

/* Advance by n bytes, and count the line ends in them. */
static void advance(struct lexer *l, size_t n)
{
    for (; n != 0 && l->at < l->source.bytes; n--) {
        l->line_begins = l->source.data[l->at++] == '\n';
        l->j->line += l->line_begins;
    }
}

static void skip_space(struct lexer *l)
{
    while (l->at < l->source.bytes && jinja_is_space(l->source.data[l->at])) {
        advance(l, 1);
    }
}

/* ---- text between tags ------------------------------------------------------------------------ */

/* Add the text from start to end, which precedes a tag. The sign '-' removes white space from the
 * text's end; before a block or a comment that begins its line, the indentation is removed. */
static void add_data(struct lexer *l, size_t start, size_t end, char sign, bool strips_line,
                     bool line_began)
{
    const char *s = l->source.data;

    if (sign == '-') {
        while (end > start && jinja_is_space(s[end - 1])) {
            end--;
        }
    } else if (sign != '+' && strips_line) {
        size_t first = end;

        while (first > start && jinja_is_space(s[first - 1]) && s[first - 1] != '\n') {
            first--;
        }
        if (first > start ? s[first - 1] == '\n' : line_began) {
            end = first;
        }
    }
    if (end > start) {
        add(l, JINJA_T_DATA, start, end - start);
    }
}

/* After a block or a comment: remove white space if '-' closes it; otherwise remove one line feed,
 * unless '+' closes it. */
static void after_block(struct lexer *l, char sign)
{
    if (sign == '-') {
        skip_space(l);
    } else if (sign != '+' && peek(l, 0) == '\n') {
        advance(l, 1);
    }
}

static void skip_comment(struct lexer *l)
{
    size_t close = jinja_find(l->source, jinja_text("#}"), l->at + 2);
    char sign;

    if (close == SIZE_MAX) {
        jinja_fail(l->j, "a comment has no end");
    }
    sign = close > l->at + 2 ? l->source.data[close - 1] : '\0';
    advance(l, close + 2 - l->at);
    after_block(l, sign);
}

/* Find the sign in a tag's closing marks; returns their length with the sign, or 0 if there are no
 * marks here. */
static size_t closing(const struct lexer *l, const char *marks, char *sign)
{
    char first = peek(l, 0);

    *sign = first == '-' || first == '+' ? first : '\0';
    if (peek(l, *sign != '\0') == marks[0] && peek(l, 1 + (*sign != '\0')) == marks[1]) {
        return *sign != '\0' ? 3 : 2;
    }
    return 0;
}

/* Match a tag {% raw %} or {% endraw %} with this word; returns its length, or 0 if the text is not
 * this tag. */
static size_t raw_tag(struct lexer *l, const char *word, char *open, char *close)
{
    struct lexer at = *l;
    size_t n = strlen(word), bytes;

    if (!looking_at(&at, "{%")) {
        return 0;
    }
    at.at += 2;
    *open = peek(&at, 0);
    if (*open == '-' || *open == '+') {
        at.at++;
    }
    while (jinja_is_space(peek(&at, 0))) {
        at.at++;
    }
    if (!looking_at(&at, word)) {
        return 0;
    }
    at.at += n;
    while (jinja_is_space(peek(&at, 0))) {
        at.at++;
    }
    bytes = closing(&at, "%}", close);
    return bytes != 0 ? at.at + bytes - l->at : 0;
}

static void take_raw(struct lexer *l, size_t bytes, char close)
{
    size_t start, n;
    char open;
    bool line_began;

    advance(l, bytes);
    if (close == '-') {
        skip_space(l);
    }
    start = l->at;
    line_began = l->line_begins;
    while ((n = raw_tag(l, "endraw", &open, &close)) == 0) {
        if (l->at == l->source.bytes) {
            jinja_fail(l->j, "raw has no endraw");
        }
        advance(l, 1);
    }
    add_data(l, start, l->at, open, true, line_began);
    advance(l, n);
    after_block(l, close);
}

/* ---- inside a tag ----------------------------------------------------------------------------- */

static unsigned digits(struct lexer *l, size_t most, unsigned base, uint32_t *value)
{
    unsigned n = 0;

    *value = 0;
    while (n < most && isxdigit((unsigned char)peek(l, 0))) {
        char c = peek(l, 0);
        unsigned d = c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 32) - 'a') + 10;

        if (d >= base) {
            break;
        }
        *value = *value * base + d;
        l->at++;
        n++;
    }
    return n;
}

static void write_escape(struct lexer *l, struct jinja_buffer *b)
{
    static const char letters[] = "nrtabfv\\'\"", stands[] = "\n\r\t\a\b\f\v\\'\"";
    char c = peek(l, 0);
    const char *at = c != '\0' ? strchr(letters, c) : NULL;
    uint32_t code;

    if (c == '\n') { /* the escaped line end is dropped */
        advance(l, 1);
    } else if (at != NULL) {
        jinja_write_char(l->j, b, stands[at - letters]);
        l->at++;
    } else if (c >= '0' && c <= '7') {
        digits(l, 3, 8, &code);
        jinja_write_code_point(l->j, b, code);
    } else if (c == 'x' || c == 'u' || c == 'U') {
        unsigned n = c == 'x' ? 2 : c == 'u' ? 4 : 8;

        l->at++;
        if (digits(l, n, 16, &code) != n) {
            jinja_fail(l->j, "a string's \\%c takes %u digits", c, n);
        }
        jinja_write_code_point(l->j, b, code);
    } else {
        jinja_write_char(l->j, b, '\\');
    }
}

static void take_string(struct lexer *l)
{
    struct jinja_token *t = add(l, JINJA_T_STRING, l->at, 0);
    size_t index = (size_t)(t - l->out.token);
    struct jinja_buffer b = { 0 };
    char quote = peek(l, 0);

    advance(l, 1);
    while (l->at < l->source.bytes && peek(l, 0) != quote) {
        char c = peek(l, 0);

        advance(l, 1);
        if (c == '\\' && l->at < l->source.bytes) {
            write_escape(l, &b);
        } else {
            jinja_write_char(l->j, &b, c);
        }
    }
    if (l->at == l->source.bytes) {
        jinja_fail(l->j, "a string has no end");
    }
    advance(l, 1);
    l->out.token[index].text = jinja_written(&b);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Take a number. A number after a dot is an index, so a second dot begins the next one: a.0.1. */
static void take_number(struct lexer *l, bool after_dot)
{
    char text[MOST_NUMBER + 1];
    size_t start = l->at, n = 0;
    bool real = false;
    struct jinja_value v;

    for (;; l->at++) {
        char c = peek(l, 0);
        bool dot = !after_dot && !real && c == '.' && is_digit(peek(l, 1));
        bool power = !after_dot && (c | 32) == 'e' &&
                     (is_digit(peek(l, 1)) ||
                      ((peek(l, 1) == '-' || peek(l, 1) == '+') && is_digit(peek(l, 2))));

        if (!is_digit(c) && c != '_' && !dot && !power) {
            break;
        }
        real = real || dot || power;
        if (c != '_' && n < MOST_NUMBER) {
            text[n++] = c;
        }
        if (power && n < MOST_NUMBER) {
            text[n++] = *(l->source.data + ++l->at);
        }
    }
    text[n] = '\0';
    errno = 0;
    v = real ? jinja_float(strtod(text, NULL)) : jinja_int(strtoll(text, NULL, 10));
    if (n == MOST_NUMBER || (!real && errno != 0)) {
        jinja_fail(l->j, "a number is too long");
    }
    add(l, JINJA_T_NUMBER, start, l->at - start)->value = v;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static void take_name(struct lexer *l)
{
    size_t n = 0;

    while (is_name(peek(l, n))) {
        n++;
    }
    add(l, JINJA_T_NAME, l->at, n);
    l->at += n;
}

static void balance(struct lexer *l, char c)
{
    static const char opens[] = "([{", closes[] = ")]}";
    const char *at;

    if (strchr(opens, c) != NULL) {
        if (l->n_brackets == MOST_BRACKETS) {
            jinja_fail(l->j, "brackets are nested more than %u deep", (unsigned)MOST_BRACKETS);
        }
        l->bracket[l->n_brackets++] = c;
    } else if ((at = strchr(closes, c)) != NULL) {
        if (l->n_brackets == 0 || l->bracket[l->n_brackets - 1] != opens[at - closes]) {
            jinja_fail(l->j, "'%c' has no opening bracket", c);
        }
        l->n_brackets--;
    }
}

static void take_operator(struct lexer *l)
{
    static const char *const two[] = { "==", "!=", ">=", "<=", "//", "**" };
    char c = peek(l, 0);

    for (size_t i = 0; i < sizeof two / sizeof two[0]; i++) {
        if (looking_at(l, two[i])) {
            add(l, JINJA_T_OPERATOR, l->at, 2);
            l->at += 2;
            return;
        }
    }
    if (c == '\0' || strchr("+-/*%~[](){}<>=.:|,;", c) == NULL) {
        jinja_fail(l->j, "'%c' is not part of an expression", c >= ' ' && c < 0x7f ? c : '?');
    }
    balance(l, c);
    add(l, JINJA_T_OPERATOR, l->at, 1);
    l->at++;
}

static void take_word(struct lexer *l)
{
    char c = peek(l, 0);

    if (c == '\'' || c == '"') {
        take_string(l);
    } else if (is_digit(c)) {
        const struct jinja_token *last = &l->out.token[l->out.n - 1];

        take_number(l, last->kind == JINJA_T_OPERATOR && last->text.data[0] == '.');
    } else if (is_name(c)) {
        take_name(l);
    } else {
        take_operator(l);
    }
}

/* Take the tokens of a tag, whose opening marks were taken, and its closing marks. */
static void take_tag(struct lexer *l, bool block)
{
    char sign;
    size_t bytes;

    add(l, block ? JINJA_T_BLOCK : JINJA_T_PRINT, l->at, 0);
    l->n_brackets = 0;
    for (;;) {
        skip_space(l);
        if (l->at == l->source.bytes) {
            jinja_fail(l->j, "a tag has no end");
        }
        bytes = l->n_brackets == 0 ? closing(l, block ? "%}" : "}}", &sign) : 0;
        if (bytes != 0 && (block || sign != '+')) {
            break;
        }
        take_word(l);
    }
    add(l, block ? JINJA_T_BLOCK_END : JINJA_T_PRINT_END, l->at, 0);
    advance(l, bytes);
    if (block) {
        after_block(l, sign);
    } else if (sign == '-') {
        skip_space(l);
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void take_opening(struct lexer *l, size_t start, bool line_began)
{
    char sign = peek(l, 2), close;
    char kind = peek(l, 1);
    size_t raw = raw_tag(l, "raw", &sign, &close);

    add_data(l, start, l->at, sign, kind != '{', line_began);
    if (raw != 0) {
        take_raw(l, raw, close);
    } else if (kind == '#') {
        skip_comment(l);
    } else {
        advance(l, sign == '-' || sign == '+' ? 3 : 2);
        take_tag(l, kind == '%');
    }
}

/* Replace line ends of any kind by line feeds, and remove a line feed at the text's end. */
static struct jinja_text normalize(struct jinja *j, struct jinja_text source)
{
    char *out = jinja_alloc(j, source.bytes + 1);
    size_t n = 0;

    for (size_t i = 0; i < source.bytes; i++) {
        if (source.data[i] != '\r') {
            out[n++] = source.data[i];
        } else if (i + 1 == source.bytes || source.data[i + 1] != '\n') {
            out[n++] = '\n';
        }
    }
    if (n != 0 && out[n - 1] == '\n') {
        n--;
    }
    return (struct jinja_text){ out, n };
}

struct jinja_tokens jinja_cut(struct jinja *j, struct jinja_text source)
{
    struct lexer l = { .j = j, .line_begins = true };

    j->line = 1;
    l.source = normalize(j, source);
    while (l.at < l.source.bytes) {
        size_t start = l.at;
        bool line_began = l.line_begins;

        while (l.at < l.source.bytes &&
               !(peek(&l, 0) == '{' && peek(&l, 1) != '\0' && strchr("{%#", peek(&l, 1)))) {
            advance(&l, 1);
        }
        if (l.at == l.source.bytes) {
            add_data(&l, start, l.at, '\0', false, false);
        } else {
            take_opening(&l, start, line_began);
        }
    }
    add(&l, JINJA_T_END, l.at, 0);
    return l.out;
}
