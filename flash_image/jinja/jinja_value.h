/* The values of a template: the kinds of Python's values that chat templates use. */
#ifndef INGOT_FLASH_IMAGE_JINJA_VALUE_H
#define INGOT_FLASH_IMAGE_JINJA_VALUE_H

#include <stdbool.h>

#include "flash_image/jinja/jinja_memory.h"

enum jinja_kind {
    JINJA_UNDEFINED, /* text: the name that was looked up */
    JINJA_NONE,
    JINJA_BOOL,
    JINJA_INT,
    JINJA_FLOAT,
    JINJA_STRING,
    JINJA_LIST,
    JINJA_TUPLE,
    JINJA_DICT,
    JINJA_NAMESPACE, /* a dict whose names can be assigned */
    JINJA_MACRO,
    JINJA_METHOD,   /* a method of a value, not yet called */
    JINJA_FUNCTION, /* a function that every template has */
    JINJA_LOOP,
};

/* UTF-8, not terminated. */
struct jinja_text {
    const char *data;
    size_t bytes;
};

struct jinja_value {
    enum jinja_kind kind;
    union {
        bool truth;
        int64_t integer;
        double real;
        struct jinja_text text;
        struct jinja_list *list; /* of a tuple too */
        struct jinja_dict *dict; /* of a namespace too */
        struct jinja_macro *macro;
        struct jinja_method *method;
        struct jinja_loop *loop;
        unsigned function;
    };
};

struct jinja_list {
    struct jinja_value *item;
    size_t n, room;
};

/* A dict, whose entries are in the order of insertion. */
struct jinja_dict {
    struct jinja_value *key, *value;
    size_t n, room;
};

struct jinja_method {
    struct jinja_value of;
    struct jinja_text name;
};

/* The arguments of a call: positional ones, and those with names. */
struct jinja_args {
    struct jinja_list list;
    struct jinja_dict named;
};

struct jinja_text jinja_text(const char *s);
bool jinja_text_is(struct jinja_text t, const char *s);
bool jinja_text_equal(struct jinja_text a, struct jinja_text b);

struct jinja_value jinja_undefined(struct jinja_text name);
struct jinja_value jinja_none(void);
struct jinja_value jinja_bool(bool truth);
struct jinja_value jinja_int(int64_t n);
struct jinja_value jinja_float(double real);
struct jinja_value jinja_string(struct jinja_text t);
struct jinja_value jinja_words(const char *s);

/* Make an empty list (kind: LIST or TUPLE) or an empty dict (DICT or NAMESPACE). */
struct jinja_value jinja_new_list(struct jinja *j, enum jinja_kind kind);
struct jinja_value jinja_new_dict(struct jinja *j, enum jinja_kind kind);

void jinja_append(struct jinja *j, struct jinja_list *to, struct jinja_value v);
void jinja_put(struct jinja *j, struct jinja_dict *d, struct jinja_value key, struct jinja_value v);
void jinja_put_name(struct jinja *j, struct jinja_dict *d, const char *name, struct jinja_value v);

/* Find a key's value; NULL: there is no such key. */
const struct jinja_value *jinja_get(struct jinja *j, const struct jinja_dict *d,
                                    struct jinja_value key);
const struct jinja_value *jinja_get_name(const struct jinja_dict *d, struct jinja_text name);

bool jinja_is_list(struct jinja_value v); /* a list or a tuple */
bool jinja_is_number(struct jinja_value v, double *real);
bool jinja_truth(struct jinja_value v);
bool jinja_equal(struct jinja *j, struct jinja_value a, struct jinja_value b);

/* Compare two values: below 0, 0 or above 0; values that cannot be ordered fail. */
int jinja_compare(struct jinja *j, struct jinja_value a, struct jinja_value b);

/* True if the value is in the container `in`. */
bool jinja_contains(struct jinja *j, struct jinja_value in, struct jinja_value v);

/* Return the number of characters or entries; other values fail. */
size_t jinja_length(struct jinja *j, struct jinja_value v);

/* Return the values over which a loop runs, as a list. */
struct jinja_list *jinja_items(struct jinja *j, struct jinja_value v);

/* Return Python's name for the kind of a value. */
const char *jinja_kind_name(struct jinja_value v);

/* Count the steps of a walk through a value with jinja_look_through(): the bytes of a text, the
 * entries of a list or a dict. */
void jinja_walk_through(struct jinja *j, struct jinja_value v);

/* Fail if the value is undefined; the error message has its name. */
void jinja_must_be_defined(struct jinja *j, struct jinja_value v);

#endif
