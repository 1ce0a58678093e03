/* Expressions: a function for each level of precedence, in the order of Jinja's grammar. */
#include "flash_image/jinja/jinja_parser.h"

static struct jinja_node *parse_unary(struct jinja_parser *p, bool with_filters)
{
    struct jinja_node *n;

    jinja_enter(p->j);
    if (jinja_is_operator(p, "-") || jinja_is_operator(p, "+")) {
        n = jinja_node(p, JINJA_UNARY);
        n->op = (p->token++)->text.data[0];
        n->a = parse_unary(p, false);
    } else {
        n = jinja_parse_primary(p);
    }
    n = jinja_parse_postfix(p, n);
    if (with_filters) {
        n = jinja_parse_filters(p, n);
    }
    jinja_leave(p->j);
    return n;
}

struct level {
    const char *words[4];
    int ops[4];
};

/* The levels of arithmetic, beginning with the operator that binds most tightly. */
static const struct level levels[] = {
    { { "**" }, { JINJA_POWER } },
    { { "*", "/", "//", "%" }, { '*', '/', JINJA_FLOOR, '%' } },
    { { "~" }, { '~' } },
    { { "+", "-" }, { '+', '-' } },
};
enum { N_LEVELS = sizeof levels / sizeof levels[0] };

static int take_level(struct jinja_parser *p, const struct level *l)
{
    for (size_t i = 0; i < 4 && l->words[i] != NULL; i++) {
        if (jinja_skip_operator(p, l->words[i])) {
            return l->ops[i];
        }
    }
    return 0;
}

static struct jinja_node *parse_level(struct jinja_parser *p, size_t level)
{
    struct jinja_node *left;
    int op;

    left = level == 0 ? parse_unary(p, true) : parse_level(p, level - 1);
    while ((op = take_level(p, &levels[level])) != 0) {
        struct jinja_node *n = jinja_node(p, JINJA_BINARY);

        n->op = op;
        n->a = left;
        n->b = level == 0 ? parse_unary(p, true) : parse_level(p, level - 1);
        left = n;
        jinja_step(p->j);
    }
    return left;
}

static int take_comparison(struct jinja_parser *p)
{
    static const struct level some = {
        { "==", "!=", ">=", "<=" }, { JINJA_EQUAL, JINJA_UNEQUAL, JINJA_AT_LEAST, JINJA_AT_MOST }
    };
    static const struct level more = { { "<", ">" }, { '<', '>' } };
    int op = take_level(p, &some);

    if (op == 0) {
        op = take_level(p, &more);
    }
    if (op == 0 && jinja_skip_name(p, "in")) {
        return JINJA_IN;
    }
    if (op == 0 && jinja_is_name(p, "not") && p->token[1].kind == JINJA_T_NAME &&
        jinja_text_is(p->token[1].text, "in")) {
        p->token += 2;
        return JINJA_NOT_IN;
    }
    return op;
}

static struct jinja_node *parse_comparison(struct jinja_parser *p)
{
    struct jinja_node *first = parse_level(p, N_LEVELS - 1), *n;
    struct jinja_chain list = { 0 };
    int op;

    while ((op = take_comparison(p)) != 0) {
        struct jinja_node *operand = jinja_node(p, JINJA_OPERAND);

        operand->op = op;
        operand->a = parse_level(p, N_LEVELS - 1);
        jinja_chain_add(&list, operand);
    }
    if (list.first == NULL) {
        return first;
    }
    n = jinja_node(p, JINJA_COMPARE);
    n->a = first;
    n->list = list.first;
    return n;
}

static struct jinja_node *parse_not(struct jinja_parser *p)
{
    struct jinja_node *n;

    if (!jinja_skip_name(p, "not")) {
        return parse_comparison(p);
    }
    jinja_enter(p->j);
    n = jinja_node(p, JINJA_UNARY);
    n->op = JINJA_NOT;
    n->a = parse_not(p);
    jinja_leave(p->j);
    return n;
}

static struct jinja_node *parse_and(struct jinja_parser *p)
{
    struct jinja_node *left = parse_not(p);

    while (jinja_skip_name(p, "and")) {
        struct jinja_node *n = jinja_node(p, JINJA_AND);

        n->a = left;
        n->b = parse_not(p);
        left = n;
    }
    return left;
}

struct jinja_node *jinja_parse_unconditional(struct jinja_parser *p)
{
    struct jinja_node *left = parse_and(p);

    while (jinja_skip_name(p, "or")) {
        struct jinja_node *n = jinja_node(p, JINJA_OR);

        n->a = left;
        n->b = parse_and(p);
        left = n;
    }
    return left;
}

struct jinja_node *jinja_parse_expression(struct jinja_parser *p)
{
    struct jinja_node *value;

    jinja_enter(p->j);
    value = jinja_parse_unconditional(p);
    while (jinja_skip_name(p, "if")) {
        struct jinja_node *n = jinja_node(p, JINJA_CHOICE);

        n->a = value;
        n->b = jinja_parse_unconditional(p);
        if (jinja_skip_name(p, "else")) {
            n->c = jinja_parse_expression(p);
        }
        value = n;
    }
    jinja_leave(p->j);
    return value;
}

struct jinja_node *jinja_parse_tuple(struct jinja_parser *p)
{
    struct jinja_node *first = jinja_parse_expression(p), *n;
    struct jinja_chain list = { 0 };

    if (!jinja_is_operator(p, ",")) {
        return first;
    }
    n = jinja_node(p, JINJA_ITEMS);
    n->flag = true;
    jinja_chain_add(&list, first);
    while (jinja_skip_operator(p, ",") && p->token->kind != JINJA_T_BLOCK_END &&
           p->token->kind != JINJA_T_PRINT_END && !jinja_is_operator(p, ")") &&
           !jinja_is_operator(p, "=")) {
        jinja_chain_add(&list, jinja_parse_expression(p));
    }
    n->list = list.first;
    return n;
}
