/* Statements: the text between {% and %}. */
#include "flash_image/jinja/jinja_parser.h"
#include "flash_image/jinja/jinja_text.h"

static struct jinja_node *parse_body(struct jinja_parser *p, const char *const ends[]);

static void end_block(struct jinja_parser *p)
{
    if (p->token->kind != JINJA_T_BLOCK_END) {
        jinja_unexpected(p);
    }
    p->token++;
}

/* Parse the body up to {% end %}, which is consumed. */
static struct jinja_node *body_until(struct jinja_parser *p, const char *end)
{
    const char *const ends[] = { end, NULL };
    struct jinja_node *body;

    end_block(p);
    body = parse_body(p, ends);
    jinja_expect_name(p, end);
    end_block(p);
    return body;
}

/* Parse the target of `set`: a name, a name's attribute, or several separated by commas. */
static struct jinja_node *parse_target(struct jinja_parser *p)
{
    struct jinja_chain list = { 0 };
    struct jinja_node *n, *all;

    if (jinja_skip_operator(p, "(")) {
        n = parse_target(p);
        jinja_expect_operator(p, ")");
    } else {
        n = jinja_node(p, JINJA_NAME);
        n->text = jinja_take_name(p);
        if (jinja_skip_operator(p, ".")) {
            struct jinja_node *of = n;

            n = jinja_node(p, JINJA_ATTRIBUTE);
            n->a = of;
            n->text = jinja_take_name(p);
        }
    }
    if (!jinja_is_operator(p, ",")) {
        return n;
    }
    all = jinja_node(p, JINJA_ITEMS);
    jinja_chain_add(&list, n);
    while (jinja_skip_operator(p, ",") && p->token->kind == JINJA_T_NAME &&
           !jinja_is_name(p, "in")) {
        n = jinja_node(p, JINJA_NAME);
        n->text = jinja_take_name(p);
        jinja_chain_add(&list, n);
    }
    all->list = list.first;
    return all;
}

static struct jinja_node *parse_if(struct jinja_parser *p)
{
    static const char *const ends[] = { "elif", "else", "endif", NULL };
    struct jinja_node *n = jinja_node(p, JINJA_IF);

    jinja_enter(p->j);
    n->a = jinja_parse_expression(p);
    end_block(p);
    n->body = parse_body(p, ends);
    if (jinja_skip_name(p, "elif")) {
        n->other = parse_if(p);
    } else if (jinja_skip_name(p, "else")) {
        n->other = body_until(p, "endif");
    } else {
        jinja_expect_name(p, "endif");
        end_block(p);
    }
    jinja_leave(p->j);
    return n;
}

static struct jinja_node *parse_for(struct jinja_parser *p)
{
    static const char *const ends[] = { "else", "endfor", NULL };
    struct jinja_node *n = jinja_node(p, JINJA_FOR);

    n->a = parse_target(p);
    jinja_expect_name(p, "in");
    n->b = jinja_parse_unconditional(p);
    if (jinja_is_operator(p, ",")) {
        struct jinja_chain list = { 0 };
        struct jinja_node *tuple = jinja_node(p, JINJA_ITEMS);

        jinja_chain_add(&list, n->b);
        while (jinja_skip_operator(p, ",") && p->token->kind != JINJA_T_BLOCK_END) {
            jinja_chain_add(&list, jinja_parse_unconditional(p));
        }
        tuple->list = list.first;
        n->b = tuple;
    }
    if (jinja_skip_name(p, "if")) {
        n->c = jinja_parse_expression(p);
    }
    n->flag = jinja_skip_name(p, "recursive");
    end_block(p);
    n->body = parse_body(p, ends);
    if (jinja_skip_name(p, "else")) {
        n->other = body_until(p, "endfor");
    } else {
        jinja_expect_name(p, "endfor");
        end_block(p);
    }
    return n;
}

static struct jinja_node *parse_set(struct jinja_parser *p)
{
    struct jinja_node *n = jinja_node(p, JINJA_SET);

    n->a = parse_target(p);
    if (jinja_skip_operator(p, "=")) {
        n->b = jinja_parse_tuple(p);
        end_block(p);
        return n;
    }
    n->kind = JINJA_SET_BLOCK;
    n->b = jinja_parse_filters(p, NULL);
    n->body = body_until(p, "endset");
    return n;
}

/* Parse the parameters after the opening bracket. */
static struct jinja_node *parse_parameters(struct jinja_parser *p)
{
    struct jinja_chain list = { 0 };

    while (!jinja_skip_operator(p, ")")) {
        struct jinja_node *n;

        if (list.first != NULL) {
            jinja_expect_operator(p, ",");
        }
        n = jinja_node(p, JINJA_NAME);
        n->text = jinja_take_name(p);
        if (jinja_skip_operator(p, "=")) {
            n->a = jinja_parse_expression(p);
        }
        jinja_chain_add(&list, n);
    }
    return list.first;
}

static struct jinja_node *parse_macro(struct jinja_parser *p)
{
    struct jinja_node *n = jinja_node(p, JINJA_DEFINE);

    n->text = jinja_take_name(p);
    jinja_expect_operator(p, "(");
    n->list = parse_parameters(p);
    n->body = body_until(p, "endmacro");
    return n;
}

static struct jinja_node *parse_call_block(struct jinja_parser *p)
{
    struct jinja_node *n = jinja_node(p, JINJA_CALL_BLOCK);

    if (jinja_skip_operator(p, "(")) {
        n->list = parse_parameters(p);
    }
    n->a = jinja_parse_expression(p);
    if (n->a->kind != JINJA_CALL) {
        jinja_unexpected(p);
    }
    n->body = body_until(p, "endcall");
    return n;
}

static struct jinja_node *parse_filter_block(struct jinja_parser *p)
{
    struct jinja_node *n = jinja_node(p, JINJA_FILTER_BLOCK);

    n->b = jinja_parse_filters(p, jinja_parse_filter(p, NULL));
    n->body = body_until(p, "endfilter");
    return n;
}

static struct jinja_node *parse_with(struct jinja_parser *p)
{
    struct jinja_node *n = jinja_node(p, JINJA_WITH);
    struct jinja_chain list = { 0 };

    while (p->token->kind != JINJA_T_BLOCK_END) {
        struct jinja_node *pair;

        if (list.first != NULL) {
            jinja_expect_operator(p, ",");
        }
        pair = jinja_node(p, JINJA_PAIR);
        pair->a = jinja_node(p, JINJA_NAME);
        pair->a->text = jinja_take_name(p);
        jinja_expect_operator(p, "=");
        pair->b = jinja_parse_expression(p);
        jinja_chain_add(&list, pair);
    }
    n->list = list.first;
    n->body = body_until(p, "endwith");
    return n;
}

static struct jinja_node *parse_generation(struct jinja_parser *p)
{
    struct jinja_node *n = jinja_node(p, JINJA_SCOPE);

    n->body = body_until(p, "endgeneration");
    return n;
}

static struct jinja_node *parse_break(struct jinja_parser *p)
{
    struct jinja_node *n = jinja_node(p, JINJA_BREAK);

    end_block(p);
    return n;
}

static struct jinja_node *parse_continue(struct jinja_parser *p)
{
    struct jinja_node *n = jinja_node(p, JINJA_CONTINUE);

    end_block(p);
    return n;
}

static struct jinja_node *parse_block(struct jinja_parser *p)
{
    static const struct {
        const char *name;
        struct jinja_node *(*parse)(struct jinja_parser *p);
    } statements[] = {
        { "if", parse_if },           { "for", parse_for },
        { "set", parse_set },         { "macro", parse_macro },
        { "call", parse_call_block }, { "filter", parse_filter_block },
        { "with", parse_with },       { "generation", parse_generation },
        { "break", parse_break },     { "continue", parse_continue },
    };

    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        if (jinja_skip_name(p, statements[i].name)) {
            return statements[i].parse(p);
        }
    }
    jinja_unexpected(p);
}

static bool is_end(const struct jinja_parser *p, const char *const ends[])
{
    for (size_t i = 0; ends[i] != NULL; i++) {
        if (jinja_is_name(p, ends[i])) {
            return true;
        }
    }
    return false;
}

static struct jinja_node *parse_output(struct jinja_parser *p)
{
    struct jinja_node *n = jinja_node(p, JINJA_OUTPUT);

    n->text = (p->token++)->text;
    return n;
}

static struct jinja_node *parse_print(struct jinja_parser *p)
{
    struct jinja_node *n = jinja_node(p, JINJA_PRINT);

    p->token++;
    n->a = jinja_parse_tuple(p);
    if (p->token->kind != JINJA_T_PRINT_END) {
        jinja_unexpected(p);
    }
    p->token++;
    return n;
}

/* Parse up to a tag that begins with one of these names, which is then the next token. If `ends` is
 * NULL, parse up to the end. */
static struct jinja_node *parse_body(struct jinja_parser *p, const char *const ends[])
{
    struct jinja_chain list = { 0 };

    jinja_enter(p->j);
    while (p->token->kind != JINJA_T_END) {
        if (p->token->kind == JINJA_T_DATA) {
            jinja_chain_add(&list, parse_output(p));
        } else if (p->token->kind == JINJA_T_PRINT) {
            jinja_chain_add(&list, parse_print(p));
        } else {
            p->token++;
            if (is_end(p, ends)) {
                jinja_leave(p->j);
                return list.first;
            }
            jinja_chain_add(&list, parse_block(p));
        }
    }
    p->j->line = p->token->line;
    if (ends[0] != NULL) {
        jinja_fail(p->j, "the template ends before '%s'", ends[0]);
    }
    jinja_leave(p->j);
    return list.first;
}

struct jinja_node *jinja_parse(struct jinja *j, struct jinja_text source)
{
    static const char *const none[] = { NULL };
    struct jinja_tokens tokens = jinja_cut(j, source);
    struct jinja_parser p = { j, tokens.token };

    return parse_body(&p, none);
}
