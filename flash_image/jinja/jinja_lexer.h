/* Cuts a template into text and the tokens of its tags. White space is treated as in Transformers:
 * trim_blocks and lstrip_blocks are on, and one line feed at the end is removed. */
#ifndef INGOT_FLASH_IMAGE_JINJA_LEXER_H
#define INGOT_FLASH_IMAGE_JINJA_LEXER_H

#include "flash_image/jinja/jinja_value.h"

enum jinja_token_kind {
    JINJA_T_DATA, /* text between tags */
    JINJA_T_PRINT,
    JINJA_T_PRINT_END,
    JINJA_T_BLOCK,
    JINJA_T_BLOCK_END,
    JINJA_T_NAME,
    JINJA_T_STRING, /* escapes resolved */
    JINJA_T_NUMBER, /* value */
    JINJA_T_OPERATOR,
    JINJA_T_END,
};

struct jinja_token {
    enum jinja_token_kind kind;
    unsigned line;
    struct jinja_text text;
    struct jinja_value value;
};

struct jinja_tokens {
    struct jinja_token *token; /* the last one is JINJA_T_END */
    size_t n, room;
};

/* Cut the text, which may be any bytes; errors leave through j->escape. */
struct jinja_tokens jinja_cut(struct jinja *j, struct jinja_text source);

#endif
