/* A template as a tree, which the parser makes and the runner walks. */
#ifndef INGOT_FLASH_IMAGE_JINJA_TREE_H
#define INGOT_FLASH_IMAGE_JINJA_TREE_H

#include "flash_image/jinja/jinja_value.h"

enum jinja_node_kind {
    /* expressions */
    JINJA_CONST,     /* value */
    JINJA_NAME,      /* text is the name; a: a parameter's default, or NULL */
    JINJA_ITEMS,     /* list: entries of a list or, if `flag` is set, a tuple */
    JINJA_PAIRS,     /* list of JINJA_PAIR: entries of a dict */
    JINJA_PAIR,      /* a: b */
    JINJA_BINARY,    /* a op b */
    JINJA_UNARY,     /* op a, where op 'n' is `not` */
    JINJA_AND,       /* a and b */
    JINJA_OR,        /* a or b */
    JINJA_COMPARE,   /* a, list of JINJA_OPERAND */
    JINJA_OPERAND,   /* op a */
    JINJA_CHOICE,    /* a if b else c, which may be NULL */
    JINJA_ATTRIBUTE, /* a.text */
    JINJA_INDEX,     /* a[b] */
    JINJA_SLICE,     /* a:b:c; each may be NULL */
    JINJA_CALL,      /* a(list) */
    JINJA_FILTER,    /* a | text(list); a is NULL for the filter of a block */
    JINJA_TEST,      /* a is text(list) */
    JINJA_KEYWORD,   /* of a call: text=a */
    JINJA_STAR,      /* of a call: *a */
    JINJA_STARS,     /* of a call: **a */
    /* statements */
    JINJA_OUTPUT,       /* text */
    JINJA_PRINT,        /* a */
    JINJA_IF,           /* a, body, other */
    JINJA_FOR,          /* a in b if c, body, other; flag: recursive */
    JINJA_SET,          /* a = b */
    JINJA_SET_BLOCK,    /* a, b: filters or NULL, body */
    JINJA_DEFINE,       /* macro text(list), body */
    JINJA_CALL_BLOCK,   /* a: a call, list: parameters, body */
    JINJA_FILTER_BLOCK, /* b: filters, body */
    JINJA_WITH,         /* list of JINJA_PAIR, body */
    JINJA_BREAK,
    JINJA_CONTINUE,
    JINJA_SCOPE, /* body */
};

/* Operators of two characters have a letter here; others are their own character. */
enum jinja_operator {
    JINJA_EQUAL = 'e',
    JINJA_UNEQUAL = 'u',
    JINJA_AT_LEAST = 'g',
    JINJA_AT_MOST = 'l',
    JINJA_FLOOR = 'f', /* // */
    JINJA_POWER = 'p',
    JINJA_IN = 'i',
    JINJA_NOT_IN = 'o',
    JINJA_NOT = 'n',
};

struct jinja_node {
    enum jinja_node_kind kind;
    unsigned line;
    int op;
    bool flag;
    struct jinja_text text;
    struct jinja_value value;
    struct jinja_node *a, *b, *c;
    struct jinja_node *list, *body, *other;
    struct jinja_node *next; /* in a list */
};

#endif
