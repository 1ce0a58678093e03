/* Parses single tokens, primary expressions, and their suffixes. */
#include <string.h>

#include "flash_image/jinja/jinja_parser.h"
#include "flash_image/jinja/jinja_text.h"

struct jinja_node *jinja_node(struct jinja_parser *p, enum jinja_node_kind kind)
{
    struct jinja_node *n = jinja_alloc(p->j, sizeof *n);

    n->kind = kind;
    n->line = p->token->line;
    p->j->line = n->line;
    return n;
}

void jinja_chain_add(struct jinja_chain *c, struct jinja_node *n)
{
    if (c->end == NULL) {
        c->end = &c->first;
    }
    *c->end = n;
    c->end = &n->next;
}

bool jinja_is_operator(const struct jinja_parser *p, const char *op)
{
    return p->token->kind == JINJA_T_OPERATOR && jinja_text_is(p->token->text, op);
}

bool jinja_is_name(const struct jinja_parser *p, const char *name)
{
    return p->token->kind == JINJA_T_NAME && jinja_text_is(p->token->text, name);
}

bool jinja_skip_operator(struct jinja_parser *p, const char *op)
{
    bool is = jinja_is_operator(p, op);

    p->token += is;
    return is;
}

bool jinja_skip_name(struct jinja_parser *p, const char *name)
{
    bool is = jinja_is_name(p, name);

    p->token += is;
    return is;
}

void jinja_unexpected(struct jinja_parser *p)
{
    struct jinja_text t = p->token->text;

    p->j->line = p->token->line;
    if (t.bytes == 0) {
        jinja_fail(p->j, "a tag ends before it is complete");
    }
    jinja_fail(p->j, "'%.*s' is not expected", (int)(t.bytes < 40 ? t.bytes : 40), t.data);
}

void jinja_expect_operator(struct jinja_parser *p, const char *op)
{
    if (!jinja_skip_operator(p, op)) {
        jinja_unexpected(p);
    }
}

void jinja_expect_name(struct jinja_parser *p, const char *name)
{
    if (!jinja_skip_name(p, name)) {
        jinja_unexpected(p);
    }
}

struct jinja_text jinja_take_name(struct jinja_parser *p)
{
    if (p->token->kind != JINJA_T_NAME) {
        jinja_unexpected(p);
    }
    return (p->token++)->text;
}

/* ---- primary expressions --------------------------------------------------------------------- */

static struct jinja_node *parse_items(struct jinja_parser *p, const char *close)
{
    struct jinja_node *n = jinja_node(p, JINJA_ITEMS);
    struct jinja_chain list = { 0 };

    while (!jinja_skip_operator(p, close)) {
        if (list.first != NULL) {
            jinja_expect_operator(p, ",");
            if (jinja_skip_operator(p, close)) {
                break;
            }
        }
        jinja_chain_add(&list, jinja_parse_expression(p));
    }
    n->list = list.first;
    return n;
}

static struct jinja_node *parse_pairs(struct jinja_parser *p)
{
    struct jinja_node *n = jinja_node(p, JINJA_PAIRS);
    struct jinja_chain list = { 0 };

    while (!jinja_skip_operator(p, "}")) {
        struct jinja_node *pair;

        if (list.first != NULL) {
            jinja_expect_operator(p, ",");
            if (jinja_skip_operator(p, "}")) {
                break;
            }
        }
        pair = jinja_node(p, JINJA_PAIR);
        pair->a = jinja_parse_expression(p);
        jinja_expect_operator(p, ":");
        pair->b = jinja_parse_expression(p);
        jinja_chain_add(&list, pair);
    }
    n->list = list.first;
    return n;
}

static struct jinja_node *constant(struct jinja_parser *p, struct jinja_value v)
{
    struct jinja_node *n = jinja_node(p, JINJA_CONST);

    n->value = v;
    p->token++;
    return n;
}

static struct jinja_node *parse_name(struct jinja_parser *p)
{
    struct jinja_text t = p->token->text;
    struct jinja_node *n;

    if (jinja_text_is(t, "true") || jinja_text_is(t, "True")) {
        return constant(p, jinja_bool(true));
    }
    if (jinja_text_is(t, "false") || jinja_text_is(t, "False")) {
        return constant(p, jinja_bool(false));
    }
    if (jinja_text_is(t, "none") || jinja_text_is(t, "None")) {
        return constant(p, jinja_none());
    }
    n = jinja_node(p, JINJA_NAME);
    n->text = jinja_take_name(p);
    return n;
}

/* Parse a string; adjacent strings become one. */
static struct jinja_node *parse_string(struct jinja_parser *p)
{
    struct jinja_node *n = constant(p, jinja_string(p->token->text));

    while (p->token->kind == JINJA_T_STRING) {
        n->value.text = jinja_join(p->j, n->value.text, (p->token++)->text);
    }
    return n;
}

static struct jinja_node *parse_brackets(struct jinja_parser *p)
{
    struct jinja_node *n;

    if (jinja_skip_operator(p, "[")) {
        return parse_items(p, "]");
    }
    if (jinja_skip_operator(p, "{")) {
        return parse_pairs(p);
    }
    jinja_expect_operator(p, "(");
    if (jinja_skip_operator(p, ")")) {
        n = jinja_node(p, JINJA_ITEMS);
        n->flag = true;
        return n;
    }
    n = jinja_parse_tuple(p);
    jinja_expect_operator(p, ")");
    return n;
}

struct jinja_node *jinja_parse_primary(struct jinja_parser *p)
{
    switch (p->token->kind) {
    case JINJA_T_NAME: return parse_name(p);
    case JINJA_T_STRING: return parse_string(p);
    case JINJA_T_NUMBER: return constant(p, p->token->value);
    case JINJA_T_OPERATOR: return parse_brackets(p);
    default: jinja_unexpected(p);
    }
}

/* ---- suffixes -------------------------------------------------------------------------------- */

static struct jinja_node *parse_argument(struct jinja_parser *p)
{
    struct jinja_node *n;

    if (jinja_skip_operator(p, "*")) {
        n = jinja_node(p, JINJA_STAR);
        n->a = jinja_parse_expression(p);
        return n;
    }
    if (jinja_skip_operator(p, "**")) {
        n = jinja_node(p, JINJA_STARS);
        n->a = jinja_parse_expression(p);
        return n;
    }
    if (p->token->kind == JINJA_T_NAME && p->token[1].kind == JINJA_T_OPERATOR &&
        jinja_text_is(p->token[1].text, "=")) {
        n = jinja_node(p, JINJA_KEYWORD);
        n->text = jinja_take_name(p);
        p->token++;
        n->a = jinja_parse_expression(p);
        return n;
    }
    return jinja_parse_expression(p);
}

/* Parse the arguments after the opening bracket. */
static struct jinja_node *parse_arguments(struct jinja_parser *p)
{
    struct jinja_chain list = { 0 };

    while (!jinja_skip_operator(p, ")")) {
        if (list.first != NULL) {
            jinja_expect_operator(p, ",");
            if (jinja_skip_operator(p, ")")) {
                break;
            }
        }
        jinja_chain_add(&list, parse_argument(p));
    }
    return list.first;
}

static bool ends_slice_part(const struct jinja_parser *p)
{
    return jinja_is_operator(p, ":") || jinja_is_operator(p, "]") || jinja_is_operator(p, ",");
}

static struct jinja_node *parse_index(struct jinja_parser *p)
{
    struct jinja_node *n, *first = NULL;

    if (!jinja_is_operator(p, ":")) {
        first = jinja_parse_expression(p);
        if (!jinja_is_operator(p, ":")) {
            return first;
        }
    }
    n = jinja_node(p, JINJA_SLICE);
    n->a = first;
    jinja_expect_operator(p, ":");
    if (!ends_slice_part(p)) {
        n->b = jinja_parse_expression(p);
    }
    if (jinja_skip_operator(p, ":") && !ends_slice_part(p)) {
        n->c = jinja_parse_expression(p);
    }
    return n;
}

static struct jinja_node *parse_dot(struct jinja_parser *p, struct jinja_node *of)
{
    struct jinja_node *n;

    if (p->token->kind == JINJA_T_NUMBER && p->token->value.kind == JINJA_INT) {
        n = jinja_node(p, JINJA_INDEX);
        n->b = constant(p, p->token->value);
    } else {
        n = jinja_node(p, JINJA_ATTRIBUTE);
        n->text = jinja_take_name(p);
    }
    n->a = of;
    return n;
}

struct jinja_node *jinja_parse_postfix(struct jinja_parser *p, struct jinja_node *of)
{
    for (;;) {
        struct jinja_node *n;

        if (jinja_skip_operator(p, ".")) {
            n = parse_dot(p, of);
        } else if (jinja_skip_operator(p, "[")) {
            n = jinja_node(p, JINJA_INDEX);
            n->a = of;
            n->b = parse_index(p);
            jinja_expect_operator(p, "]");
        } else if (jinja_skip_operator(p, "(")) {
            n = jinja_node(p, JINJA_CALL);
            n->a = of;
            n->list = parse_arguments(p);
        } else {
            return of;
        }
        of = n;
        jinja_step(p->j);
    }
}

/* Parse a test after `is`. Without brackets, a word after the test's name is its only argument. */
static struct jinja_node *parse_test(struct jinja_parser *p, struct jinja_node *of)
{
    struct jinja_node *n, *negated = NULL;

    if (jinja_skip_name(p, "not")) {
        negated = jinja_node(p, JINJA_UNARY);
        negated->op = JINJA_NOT;
    }
    n = jinja_node(p, JINJA_TEST);
    n->a = of;
    n->text = jinja_take_name(p);
    if (jinja_skip_operator(p, "(")) {
        n->list = parse_arguments(p);
    } else if ((p->token->kind == JINJA_T_NAME && !jinja_is_name(p, "else") &&
                !jinja_is_name(p, "or") && !jinja_is_name(p, "and") && !jinja_is_name(p, "if") &&
                !jinja_is_name(p, "is") && !jinja_is_name(p, "in") && !jinja_is_name(p, "not")) ||
               p->token->kind == JINJA_T_STRING || p->token->kind == JINJA_T_NUMBER ||
               jinja_is_operator(p, "[") || jinja_is_operator(p, "{")) {
        n->list = jinja_parse_postfix(p, jinja_parse_primary(p));
    }
    if (negated != NULL) {
        negated->a = n;
        return negated;
    }
    return n;
}

struct jinja_node *jinja_parse_filter(struct jinja_parser *p, struct jinja_node *of)
{
    struct jinja_node *n = jinja_node(p, JINJA_FILTER);

    n->a = of;
    n->text = jinja_take_name(p);
    if (jinja_skip_operator(p, "(")) {
        n->list = parse_arguments(p);
    }
    return n;
}

struct jinja_node *jinja_parse_filters(struct jinja_parser *p, struct jinja_node *of)
{
    for (;;) {
        jinja_step(p->j);
        if (jinja_skip_operator(p, "|")) {
            of = jinja_parse_filter(p, of);
        } else if (of != NULL && jinja_skip_name(p, "is")) {
            of = parse_test(p, of);
        } else if (of != NULL && jinja_is_operator(p, "(")) {
            of = jinja_parse_postfix(p, of);
        } else {
            return of;
        }
    }
}
