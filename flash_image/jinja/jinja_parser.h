/* Parses tokens into a tree. */
#ifndef INGOT_FLASH_IMAGE_JINJA_PARSER_H
#define INGOT_FLASH_IMAGE_JINJA_PARSER_H

#include "flash_image/jinja/jinja_lexer.h"
#include "flash_image/jinja/jinja_tree.h"

struct jinja_parser {
    struct jinja *j;
    const struct jinja_token *token; /* the next one */
};

/* A chain under construction; *end gets its next node. */
struct jinja_chain {
    struct jinja_node *first, **end;
};

/* Parse the whole template: a chain of statements. Errors leave through j->escape. */
struct jinja_node *jinja_parse(struct jinja *j, struct jinja_text source);

/* ---- for the two files of the parser ---- */

struct jinja_node *jinja_node(struct jinja_parser *p, enum jinja_node_kind kind);
void jinja_chain_add(struct jinja_chain *c, struct jinja_node *n);

/* jinja_is_...: true if the next token is this operator or word. jinja_skip_...: also consume it.
 * jinja_expect_...: consume it, or fail. */
bool jinja_is_operator(const struct jinja_parser *p, const char *op);
bool jinja_is_name(const struct jinja_parser *p, const char *name);
bool jinja_skip_operator(struct jinja_parser *p, const char *op);
bool jinja_skip_name(struct jinja_parser *p, const char *name);
void jinja_expect_operator(struct jinja_parser *p, const char *op);
void jinja_expect_name(struct jinja_parser *p, const char *name);
struct jinja_text jinja_take_name(struct jinja_parser *p);
_Noreturn void jinja_unexpected(struct jinja_parser *p);

/* Parse a name, a constant or an expression in brackets, with .name, [index] and (arguments) after
 * it. */
struct jinja_node *jinja_parse_primary(struct jinja_parser *p);
struct jinja_node *jinja_parse_postfix(struct jinja_parser *p, struct jinja_node *of);

struct jinja_node *jinja_parse_expression(struct jinja_parser *p);

/* Parse an expression without `if` at its outermost level, as after `in` of a loop. */
struct jinja_node *jinja_parse_unconditional(struct jinja_parser *p);

/* Parse an expression, or several with commas, which make a tuple. */
struct jinja_node *jinja_parse_tuple(struct jinja_parser *p);

/* Parse a filter's name(...), then further filters, each after a bar. They apply to `of`, which is
 * NULL for a block. */
struct jinja_node *jinja_parse_filter(struct jinja_parser *p, struct jinja_node *of);
struct jinja_node *jinja_parse_filters(struct jinja_parser *p, struct jinja_node *of);

#endif
