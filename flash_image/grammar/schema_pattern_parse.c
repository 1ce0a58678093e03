/* Parses regular expressions of ECMA-262. Character classes, and the places where a pattern may
 * begin, are those of the standard's Unicode mode (flag u). An escaped character that needs no
 * escape, which only some programs accept, stands for itself. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/schema_pattern.h"
#include "runtime/text/utf8.h"

static uint32_t node(struct pattern_parser *r, enum pattern_node_kind kind, uint32_t left,
                     uint32_t right, uint32_t low, uint32_t high)
{
    if (r->n_nodes == PATTERN_NODES_MOST) {
        r->failed = true;
        return 0;
    }
    r->nodes[r->n_nodes] = (struct pattern_node){ kind, left, right, low, high };
    return r->n_nodes++;
}

static uint32_t give_up(struct pattern_parser *r)
{
    r->failed = true;
    return 0;
}

/* ---- classes -------------------------------------------------------------------------------- */

static void add_range(struct pattern_parser *r, uint32_t low, uint32_t high)
{
    struct pattern *p = r->p;

    if (p->n_ranges == p->ranges_room) {
        uint32_t room = p->ranges_room == 0 ? 64 : 2 * p->ranges_room;
        struct pattern_range *grown = room <= 2 * PATTERN_RANGES_MOST
                                          ? realloc(p->ranges, room * sizeof *grown)
                                          : NULL;

        if (grown == NULL) {
            r->failed = true;
            return;
        }
        p->ranges = grown;
        p->ranges_room = room;
    }
    p->ranges[p->n_ranges++] = (struct pattern_range){ low, high };
}

static int compare_ranges(const void *a, const void *b)
{
    const struct pattern_range *x = a, *y = b;

    return x->low < y->low ? -1 : x->low > y->low;
}

/* Sort the ranges from `first` on and make them disjoint. */
static void sort_ranges(struct pattern *p, uint32_t first)
{
    struct pattern_range *all = p->ranges + first;
    uint32_t n = p->n_ranges - first, kept = 0;

    if (n < 2) {
        return;
    }
    qsort(all, n, sizeof *all, compare_ranges);
    for (uint32_t i = 1; i < n; i++) {
        if (all[i].low > all[kept].high) {
            all[++kept] = all[i];
        } else if (all[i].high > all[kept].high) {
            all[kept].high = all[i].high;
        }
    }
    p->n_ranges = first + kept + 1;
}

/* Replace the ranges from `first` on by the ranges between them. */
static void invert(struct pattern_parser *r, uint32_t first)
{
    struct pattern *p = r->p;
    uint32_t n = p->n_ranges - first, next = 0;
    struct pattern_range *copy = malloc((n + 1) * sizeof *copy);

    if (copy == NULL) {
        r->failed = true;
        return;
    }
    if (n != 0) {
        memcpy(copy, p->ranges + first, n * sizeof *copy);
        qsort(copy, n, sizeof *copy, compare_ranges);
    }
    p->n_ranges = first;
    for (uint32_t i = 0; i < n; i++) {
        if (copy[i].low > next) {
            add_range(r, next, copy[i].low - 1);
        }
        next = copy[i].high + 1 > next ? copy[i].high + 1 : next;
    }
    if (next <= 0x10ffff) {
        add_range(r, next, 0x10ffff);
    }
    free(copy);
}

/* Add the characters of \d, \w, \s, \D, \W or \S. */
static void add_named(struct pattern_parser *r, char name)
{
    static const struct pattern_range spaces[] = { { 9, 13 },          { 32, 32 },
                                                   { 0xa0, 0xa0 },     { 0x1680, 0x1680 },
                                                   { 0x2000, 0x200a }, { 0x2028, 0x2029 },
                                                   { 0x202f, 0x202f }, { 0x205f, 0x205f },
                                                   { 0x3000, 0x3000 }, { 0xfeff, 0xfeff } };
    uint32_t first = r->p->n_ranges;
    char kind = (char)tolower((unsigned char)name);

    if (kind == 's') {
        for (unsigned i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
            add_range(r, spaces[i].low, spaces[i].high);
        }
    } else {
        add_range(r, '0', '9');
        if (kind == 'w') {
            add_range(r, 'A', 'Z');
            add_range(r, '_', '_');
            add_range(r, 'a', 'z');
        }
    }
    if (kind != name) {
        invert(r, first);
    }
}

static uint32_t hex(struct pattern_parser *r, unsigned least, unsigned most)
{
    uint32_t value = 0;
    unsigned n = 0;

    for (; n < most && isxdigit((unsigned char)r->at[n]); n++) {
        char c = (char)tolower((unsigned char)r->at[n]);

        value = value * 16 + (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    if (n < least || value > 0x10ffff) {
        r->failed = true;
    }
    r->at += n;
    return value;
}

/* Read what follows \u: four digits, two halves of a pair, or {digits}. */
static uint32_t unicode(struct pattern_parser *r)
{
    uint32_t code;

    if (*r->at == '{') {
        r->at++;
        code = hex(r, 1, 6);
        r->failed = r->failed || *r->at != '}';
        r->at += !r->failed;
        return code;
    }
    code = hex(r, 4, 4);
    if (code >= 0xd800 && code < 0xdc00 && r->at[0] == '\\' && r->at[1] == 'u') {
        r->at += 2;
        code = 0x10000 + ((code & 0x3ff) << 10) + (hex(r, 4, 4) & 0x3ff);
    }
    return code;
}

/* Read an escape that stands for one character; r->at is after the backslash. */
static uint32_t escaped(struct pattern_parser *r)
{
    static const char names[] = "fnrtv", values[] = "\f\n\r\t\v";
    char c = *r->at;
    const char *found;

    if (c == '\0') {
        return give_up(r);
    }
    if ((uint8_t)c >= 0x80) {
        int n = utf8_check((const uint8_t *)r->at, strnlen(r->at, 4));
        uint32_t code = n > 0 ? utf8_decode((const uint8_t *)r->at, n) : give_up(r);

        r->at += n > 0 ? n : 1;
        return code;
    }
    r->at++;
    found = strchr(names, c);
    if (found != NULL) {
        return (uint8_t)values[found - names];
    }
    switch (c) {
    case 'x': return hex(r, 2, 2);
    case 'u': return unicode(r);
    case '0': return isdigit((unsigned char)*r->at) ? give_up(r) : 0;
    case 'c':
        if (!isalpha((unsigned char)*r->at)) {
            return give_up(r);
        }
        return (uint32_t)*r->at++ & 31;
    default: break;
    }
    return isalnum((unsigned char)c) ? give_up(r) : (uint32_t)c;
}

static uint32_t plain(struct pattern_parser *r)
{
    int n = utf8_check((const uint8_t *)r->at, strnlen(r->at, 4));
    uint32_t code;

    if (n <= 0) {
        return give_up(r);
    }
    code = utf8_decode((const uint8_t *)r->at, n);
    r->at += n;
    return code;
}

static bool is_named(const char *at)
{
    return at[0] == '\\' && at[1] != '\0' && strchr("dDwWsS", at[1]) != NULL;
}

/* Read a character of a class. */
static uint32_t member(struct pattern_parser *r)
{
    if (*r->at != '\\') {
        return plain(r);
    }
    r->at++;
    if (*r->at == 'b') {
        r->at++;
        return '\b';
    }
    if (*r->at == '-') {
        r->at++;
        return '-';
    }
    return escaped(r);
}

static uint32_t read_class(struct pattern_parser *r)
{
    uint32_t first = r->p->n_ranges;
    bool inverted = r->at[1] == '^';

    for (r->at += 1 + inverted; *r->at != ']' && !r->failed;) {
        uint32_t low, high;

        if (*r->at == '\0') {
            return give_up(r);
        }
        if (is_named(r->at)) {
            add_named(r, r->at[1]);
            r->at += 2;
            continue;
        }
        low = high = member(r);
        if (r->at[0] == '-' && r->at[1] != ']' && r->at[1] != '\0' && !is_named(r->at + 1)) {
            r->at++;
            high = member(r);
        }
        if (high < low) {
            return give_up(r);
        }
        add_range(r, low, high);
    }
    if (r->failed) {
        return 0;
    }
    r->at++;
    if (inverted) {
        invert(r, first);
    }
    sort_ranges(r->p, first);
    return node(r, CLASS, 0, 0, first, r->p->n_ranges - first);
}

static uint32_t one_character(struct pattern_parser *r, uint32_t code)
{
    uint32_t first = r->p->n_ranges;

    add_range(r, code, code);
    return node(r, CLASS, 0, 0, first, 1);
}

/* Make a node for all characters except line ends. */
static uint32_t any_character(struct pattern_parser *r)
{
    uint32_t first = r->p->n_ranges;

    add_range(r, '\n', '\n');
    add_range(r, '\r', '\r');
    add_range(r, 0x2028, 0x2029);
    invert(r, first);
    return node(r, CLASS, 0, 0, first, r->p->n_ranges - first);
}

/* ---- expressions ---------------------------------------------------------------------------- */

static uint32_t read_either(struct pattern_parser *r);

/* (?:...), (?<name>...) and Python's (?P<name>...) are groups; look-ahead and look-behind inside an
 * expression are not supported. */
static uint32_t read_group(struct pattern_parser *r)
{
    uint32_t n;

    r->at++;
    if (r->at[0] == '?') {
        if (r->at[1] == ':') {
            r->at += 2;
        } else if ((r->at[1] == '<' && r->at[2] != '=' && r->at[2] != '!' &&
                    strchr(r->at, '>') != NULL) ||
                   (strncmp(r->at, "?P<", 3) == 0 && strchr(r->at, '>') != NULL)) {
            r->at = strchr(r->at, '>') + 1;
        } else {
            return give_up(r);
        }
    }
    if (r->nest++ == PATTERN_NEST_MOST) {
        return give_up(r);
    }
    n = read_either(r);
    r->nest--;
    if (*r->at != ')') {
        return give_up(r);
    }
    r->at++;
    return n;
}

static uint32_t read_escape(struct pattern_parser *r)
{
    uint32_t first = r->p->n_ranges;

    if (is_named(r->at)) {
        add_named(r, r->at[1]);
        r->at += 2;
        return node(r, CLASS, 0, 0, first, r->p->n_ranges - first);
    }
    r->at++;
    return one_character(r, escaped(r));
}

static uint32_t read_atom(struct pattern_parser *r)
{
    switch (*r->at) {
    case '(': return read_group(r);
    case '[': return read_class(r);
    case '.': r->at++; return any_character(r);
    case '^': r->at++; return node(r, BEGIN, 0, 0, 0, 0);
    case '$': r->at++; return node(r, END, 0, 0, 0, 0);
    case '\\': return read_escape(r);
    case '*':
    case '+':
    case '?': return give_up(r);
    default: return one_character(r, plain(r));
    }
}

/* Limit a count: no string is longer than GRAMMAR_STRING_MOST characters, so no more repetitions
 * are needed. */
static uint32_t times_within(uint32_t low, uint32_t high)
{
    uint32_t most = low > GRAMMAR_STRING_MOST ? low : GRAMMAR_STRING_MOST;

    return high != PATTERN_NO_END && high > most ? most : high;
}

/* Read {m}, {m,} or {m,n}; false: the brace stands for itself. */
static bool read_times(struct pattern_parser *r, uint32_t *low, uint32_t *high)
{
    const char *at = r->at + 1;
    char *end;

    if (!isdigit((unsigned char)*at)) {
        return false;
    }
    *low = *high = (uint32_t)strtoul(at, &end, 10);
    if (*end == ',') {
        at = end + 1;
        *high = PATTERN_NO_END;
        end = (char *)at;
        if (isdigit((unsigned char)*at)) {
            *high = (uint32_t)strtoul(at, &end, 10);
        }
    }
    if (*end != '}') {
        return false;
    }
    r->failed = r->failed || *high < *low || *low > PATTERN_STATES_MOST;
    *high = times_within(*low, *high);
    r->at = end + 1;
    return true;
}

static uint32_t read_repeats(struct pattern_parser *r, uint32_t atom)
{
    uint32_t low = 0, high = PATTERN_NO_END;

    switch (*r->at) {
    case '*': r->at++; break;
    case '+':
        r->at++;
        low = 1;
        break;
    case '?':
        r->at++;
        high = 1;
        break;
    case '{':
        if (read_times(r, &low, &high)) {
            break;
        }
        return atom;
    default: return atom;
    }
    r->at += *r->at == '?'; /* skip the mark of a lazy repetition, because any match will do */
    return node(r, TIMES, atom, 0, low, high);
}

static uint32_t read_sequence(struct pattern_parser *r)
{
    uint32_t all = node(r, EMPTY, 0, 0, 0, 0);

    while (*r->at != '\0' && *r->at != '|' && *r->at != ')' && !r->failed) {
        all = node(r, THEN, all, read_repeats(r, read_atom(r)), 0, 0);
    }
    return all;
}

static uint32_t read_either(struct pattern_parser *r)
{
    uint32_t all = read_sequence(r);

    while (*r->at == '|' && !r->failed) {
        r->at++;
        all = node(r, EITHER, all, read_sequence(r), 0, 0);
    }
    return all;
}

uint32_t pattern_parse(struct pattern_parser *r)
{
    uint32_t all = read_either(r);

    r->failed = r->failed || *r->at != '\0';
    return all;
}
