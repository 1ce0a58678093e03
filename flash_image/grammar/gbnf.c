/* Reads GBNF. A sequence ends at a bar, at the end of its group, or before `name ::=`. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/grammar_private.h"
#include "runtime/text/utf8.h"

enum { NAME_SLOTS = 2 * GRAMMAR_RULES_MOST }; /* a power of two */

struct parser {
    struct grammar_tree *tree;
    uint16_t *
        names; /* (NAME_SLOTS) hash table: a rule's number + 1 at its name's hash or the next free slot; 0: free */
    const char *at;
    uint32_t line;
    uint32_t nest;
    char *error_message; /* [0] != 0: an error has occurred */
};

static bool failed(const struct parser *p)
{
    return p->error_message[0] != '\0';
}

static uint32_t fail(struct parser *p, const char *what)
{
    if (!failed(p)) {
        snprintf(p->error_message, GRAMMAR_ERROR_MESSAGE_BYTES, "line %u: %s", (unsigned)p->line,
                 what);
    }
    return 0;
}

uint32_t grammar_node(struct grammar_tree *t, enum node_kind kind, uint32_t left, uint32_t right,
                      uint32_t low, uint32_t high)
{
    if (t->n_nodes == t->room) {
        uint32_t room = t->room == 0 ? 256 : 2 * t->room;
        struct node *grown = NULL;

        if (room <= GRAMMAR_NODES_MOST) {
            grown = realloc(t->nodes, room * sizeof *grown);
        }
        if (grown == NULL) {
            t->full = true;
            return 0;
        }
        t->nodes = grown;
        t->room = room;
    }
    t->nodes[t->n_nodes] = (struct node){ kind, left, right, low, high };
    return t->n_nodes++;
}

static uint32_t pair(struct grammar_tree *t, uint32_t left, uint32_t right)
{
    if (t->nodes[left].kind == NODE_EMPTY) {
        return right;
    }
    return t->nodes[right].kind == NODE_EMPTY ? left
                                              : grammar_node(t, NODE_PAIR, left, right, 0, 0);
}

static void skip_space(struct parser *p)
{
    for (;; p->at++) {
        if (*p->at == '#') {
            p->at += strcspn(p->at, "\n");
        }
        if (*p->at == '\n') {
            p->line++;
        } else if (*p->at != ' ' && *p->at != '\t' && *p->at != '\r') {
            return;
        }
    }
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_';
}

static size_t name_bytes(const char *s)
{
    size_t n = 0;

    while (is_name(s[n])) {
        n++;
    }
    return n;
}

/* True if a rule begins at the current position. */
static bool at_rule(const struct parser *p)
{
    size_t n = name_bytes(p->at);
    struct parser ahead = *p;

    ahead.at += n;
    skip_space(&ahead);
    return n != 0 && strncmp(ahead.at, "::=", 3) == 0;
}

/* Return the slot of a name or, if the name is new, the free slot for it. */
static uint16_t *slot_of(const struct parser *p, const char *name, size_t n)
{
    uint32_t at = 2166136261u;

    for (size_t i = 0; i < n; i++) {
        at = (at ^ (uint8_t)name[i]) * 16777619u;
    }
    for (;; at++) {
        uint16_t *slot = &p->names[at % NAME_SLOTS];

        if (*slot == 0 || (strncmp(p->tree->rules[*slot - 1].name, name, n) == 0 &&
                           p->tree->rules[*slot - 1].name[n] == '\0')) {
            return slot;
        }
    }
}

/* Find the rule of a name, or add such a rule. */
static uint32_t rule_named(struct parser *p, size_t n)
{
    struct grammar_tree *t = p->tree;
    uint16_t *slot;

    if (n >= GRAMMAR_NAME_MOST) {
        return fail(p, "a rule's name is longer than 63 characters");
    }
    if (*(slot = slot_of(p, p->at, n)) != 0) {
        return *slot - 1u;
    }
    if (t->n_rules == GRAMMAR_RULES_MOST) {
        return fail(p, "there are more than 2,048 rules");
    }
    *slot = (uint16_t)(t->n_rules + 1);
    memset(&t->rules[t->n_rules], 0, sizeof t->rules[0]);
    memcpy(t->rules[t->n_rules].name, p->at, n);
    t->rules[t->n_rules].body = GRAMMAR_NO_BODY;
    t->rules[t->n_rules].line = p->line;
    return t->n_rules++;
}

/* Read a number of `digits` hexadecimal digits. */
static uint32_t read_hex(struct parser *p, unsigned digits)
{
    char text[9] = { 0 }, *end;
    unsigned long value;

    for (unsigned i = 0; i < digits && isxdigit((unsigned char)p->at[i]); i++) {
        text[i] = p->at[i];
    }
    value = strtoul(text, &end, 16);
    if ((unsigned)(end - text) != digits) {
        return fail(p, "\\x takes two hexadecimal digits, \\u four, \\U eight");
    }
    p->at += digits;
    return (uint32_t)value;
}

static uint32_t read_escape(struct parser *p)
{
    static const char plain[] = "\\\"[]^-/.{}|()*+?", names[] = "nrt", values[] = "\n\r\t";
    char c = *p->at;

    if (c == '\0') {
        return fail(p, "the grammar ends after a backslash");
    }
    p->at++;
    switch (c) {
    case 'x': return read_hex(p, 2);
    case 'u': return read_hex(p, 4);
    case 'U': return read_hex(p, 8);
    default: break;
    }
    if (strchr(names, c) != NULL) {
        return (uint8_t)values[strchr(names, c) - names];
    }
    if (strchr(plain, c) == NULL) {
        return fail(p, "there is no such escape, only \\n \\r \\t \\\\ \\\" \\[ \\] \\xHH \\uHHHH");
    }
    return (uint8_t)c;
}

/* Read a character of a text or a class. */
static uint32_t read_character(struct parser *p)
{
    uint32_t code;
    int n;

    if (*p->at == '\\') {
        p->at++;
        code = read_escape(p);
    } else {
        n = utf8_check((const uint8_t *)p->at, strnlen(p->at, 4));
        if (n <= 0) {
            return fail(p, "it is not UTF-8");
        }
        code = utf8_decode((const uint8_t *)p->at, n);
        p->at += n;
    }
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
        return fail(p, "no character has that number");
    }
    return code;
}

static uint32_t read_text(struct parser *p)
{
    uint32_t node = grammar_node(p->tree, NODE_EMPTY, 0, 0, 0, 0);

    for (p->at++; *p->at != '"' && !failed(p) && !p->tree->full;) {
        uint32_t code;

        if (*p->at == '\0' || *p->at == '\n') {
            return fail(p, "a text has no closing quote");
        }
        code = read_character(p);
        node = pair(p->tree, node, grammar_node(p->tree, NODE_RANGE, 0, 0, code, code));
    }
    p->at += !failed(p) && *p->at == '"';
    return node;
}

enum { RANGES = 256 };

static int compare_ranges(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return x[0] < y[0] ? -1 : x[0] > y[0];
}

static uint32_t either_range(struct grammar_tree *t, uint32_t node, bool first, uint32_t low,
                             uint32_t high)
{
    uint32_t range = grammar_node(t, NODE_RANGE, 0, 0, low, high);

    return first ? range : grammar_node(t, NODE_EITHER, node, range, 0, 0);
}

/* Make a node for all characters that are in none of the ranges. */
static uint32_t invert(struct parser *p, uint32_t (*ranges)[2], unsigned n)
{
    uint32_t next = 0, node = 0;
    bool first = true;

    qsort(ranges, n, sizeof ranges[0], compare_ranges);
    for (unsigned i = 0; i <= n; i++) {
        uint32_t low = i < n ? ranges[i][0] : 0x110000;

        if (low > next) {
            node = either_range(p->tree, node, first, next, low - 1);
            first = false;
        }
        if (i < n && ranges[i][1] + 1 > next) {
            next = ranges[i][1] + 1;
        }
    }
    return first ? fail(p, "a class allows no character") : node;
}

static uint32_t read_class(struct parser *p)
{
    uint32_t ranges[RANGES][2], node = 0;
    bool inverted = p->at[1] == '^';
    unsigned n = 0;

    for (p->at += 1 + inverted; *p->at != ']' && !failed(p); n++) {
        if (*p->at == '\0' || *p->at == '\n' || n == RANGES) {
            return fail(p, "a class has no closing bracket, or more than 256 ranges");
        }
        ranges[n][0] = ranges[n][1] = read_character(p);
        if (p->at[0] == '-' && p->at[1] != ']') {
            p->at++;
            ranges[n][1] = read_character(p);
        }
        if (ranges[n][1] < ranges[n][0]) {
            return fail(p, "a range of a class ends before it begins");
        }
    }
    if (failed(p)) {
        return 0;
    }
    p->at++;
    if (inverted) {
        return invert(p, ranges, n);
    }
    for (unsigned i = 0; i < n; i++) {
        node = either_range(p->tree, node, i == 0, ranges[i][0], ranges[i][1]);
    }
    return n == 0 ? fail(p, "a class allows no character") : node;
}

static uint32_t read_either(struct parser *p);

static uint32_t read_group(struct parser *p)
{
    uint32_t node;

    if (p->nest++ == GRAMMAR_NEST_MOST) {
        return fail(p, "groups are nested deeper than 64");
    }
    p->at++;
    node = read_either(p);
    skip_space(p);
    if (*p->at != ')') {
        return fail(p, "a group has no closing parenthesis");
    }
    p->at++;
    p->nest--;
    return node;
}

static uint32_t read_item(struct parser *p)
{
    uint32_t rule;
    size_t n;

    switch (*p->at) {
    case '"': return read_text(p);
    case '[': return read_class(p);
    case '(': return read_group(p);
    case '.': p->at++; return grammar_node(p->tree, NODE_RANGE, 0, 0, 0, 0x10ffff);
    default: break;
    }
    n = name_bytes(p->at);
    if (n == 0) {
        return fail(p, "expected a \"text\", a [class], a name or a group");
    }
    rule = rule_named(p, n);
    p->at += n;
    return grammar_node(p->tree, NODE_RULE, 0, 0, rule, 0);
}

static uint32_t read_number(struct parser *p)
{
    uint32_t value = 0;

    skip_space(p);
    if (!isdigit((unsigned char)*p->at)) {
        return fail(p, "{} takes {m}, {m,} or {m,n}");
    }
    for (; isdigit((unsigned char)*p->at); p->at++) {
        value = 10 * value + (uint32_t)(*p->at - '0');
        if (value > GRAMMAR_TIMES_MOST) {
            return fail(p, "more than 60,000 times");
        }
    }
    skip_space(p);
    return value;
}

static void read_times(struct parser *p, uint32_t *low, uint32_t *high)
{
    p->at++;
    *low = *high = read_number(p);
    if (*p->at == ',') {
        p->at++;
        skip_space(p);
        *high = *p->at == '}' ? GRAMMAR_NO_END : read_number(p);
    }
    if (*p->at != '}' || *high < *low) {
        (void)fail(p, "{} takes {m}, {m,} or {m,n}");
        return;
    }
    p->at++;
}

/* Read the repetition after an item. */
static uint32_t read_repeats(struct parser *p, uint32_t node)
{
    static const char marks[] = "?*+{";

    for (;;) {
        uint32_t low = 0, high = GRAMMAR_NO_END;

        skip_space(p);
        if (*p->at == '\0' || strchr(marks, *p->at) == NULL || failed(p)) {
            return node;
        }
        if (*p->at == '{') {
            read_times(p, &low, &high);
        } else {
            low = *p->at == '+';
            high = *p->at == '?' ? 1 : GRAMMAR_NO_END;
            p->at++;
        }
        node = high == 0 ? grammar_node(p->tree, NODE_EMPTY, 0, 0, 0, 0)
                         : grammar_node(p->tree, NODE_TIMES, node, 0, low, high);
    }
}

static uint32_t read_sequence(struct parser *p)
{
    uint32_t node = grammar_node(p->tree, NODE_EMPTY, 0, 0, 0, 0);

    while (!failed(p) && !p->tree->full) {
        skip_space(p);
        if (*p->at == '\0' || *p->at == '|' || *p->at == ')' || at_rule(p)) {
            break;
        }
        node = pair(p->tree, node, read_repeats(p, read_item(p)));
    }
    return node;
}

static uint32_t read_either(struct parser *p)
{
    uint32_t node = read_sequence(p);

    for (skip_space(p); *p->at == '|' && !failed(p) && !p->tree->full; skip_space(p)) {
        p->at++;
        node = grammar_node(p->tree, NODE_EITHER, node, read_sequence(p), 0, 0);
    }
    return node;
}

static void read_rule(struct parser *p)
{
    uint32_t rule;

    if (!at_rule(p)) {
        (void)fail(p, "expected a rule: name ::= ...");
        return;
    }
    rule = rule_named(p, name_bytes(p->at));
    if (failed(p)) {
        return;
    }
    if (p->tree->rules[rule].body != GRAMMAR_NO_BODY) {
        (void)fail(p, "a rule of this name is already defined");
        return;
    }
    p->at += name_bytes(p->at);
    skip_space(p);
    p->at += 3;
    p->tree->rules[rule].first = p->tree->n_nodes;
    p->tree->rules[rule].body = read_either(p);
    p->tree->rules[rule].end = p->tree->n_nodes;
    if (*p->at == ')') {
        (void)fail(p, "a closing parenthesis has no opening one");
    }
}

static void find_root(struct parser *p)
{
    struct grammar_tree *t = p->tree;
    bool found = false;

    for (uint32_t i = 0; i < t->n_rules && !failed(p); i++) {
        if (t->rules[i].body == GRAMMAR_NO_BODY) {
            snprintf(p->error_message, GRAMMAR_ERROR_MESSAGE_BYTES, "line %u: there is no rule %s",
                     (unsigned)t->rules[i].line, t->rules[i].name);
        } else if (strcmp(t->rules[i].name, "root") == 0) {
            t->root = i;
            found = true;
        }
    }
    if (!failed(p) && !found) {
        snprintf(p->error_message, GRAMMAR_ERROR_MESSAGE_BYTES,
                 "the rule root is missing, with which a grammar begins");
    }
}

enum err grammar_parse(struct grammar_tree *t, const char *text,
                       char error_message[GRAMMAR_ERROR_MESSAGE_BYTES])
{
    struct parser p = { .tree = t, .at = text, .line = 1, .error_message = error_message };

    error_message[0] = '\0';
    memset(t, 0, sizeof *t);
    t->rules = calloc(GRAMMAR_RULES_MOST, sizeof *t->rules);
    p.names = calloc(NAME_SLOTS, sizeof *p.names);
    t->full = t->rules == NULL || p.names == NULL;
    (void)grammar_node(t, NODE_EMPTY, 0, 0, 0, 0);
    for (skip_space(&p); *p.at != '\0' && !failed(&p) && !t->full; skip_space(&p)) {
        read_rule(&p);
    }
    free(p.names);
    if (t->full) {
        snprintf(error_message, GRAMMAR_ERROR_MESSAGE_BYTES,
                 "the grammar is too large: it has more than %d items", GRAMMAR_NODES_MOST / 2);
        return ERR_TOO_LONG;
    }
    find_root(&p);
    return failed(&p) ? ERR_BAD_ARGUMENT : ERR_OK;
}

void grammar_tree_free(struct grammar_tree *t)
{
    free(t->nodes);
    free(t->rules);
    free(t->empty);
    free(t->sizes);
    memset(t, 0, sizeof *t);
}
