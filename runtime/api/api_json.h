/* A JSON body as a tree. Texts are decoded in place, so that only the nodes take memory. The reader
 * also takes what RFC 8259 forbids but clients send: half of a surrogate pair, which is left when a
 * client cuts a text inside a character, becomes U+FFFD; a text may have control characters that
 * are not escaped; and a byte order mark may come first. */
#ifndef INGOT_RUNTIME_API_JSON_H
#define INGOT_RUNTIME_API_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/api/api_memory.h"
#include "runtime/api/api_text.h"
#include "runtime/text/json.h"

enum { API_JSON_DEEPEST = 1000 };

struct api_json {
    enum json_kind kind; /* JSON_TEXT .. JSON_OBJECT */
    uint32_t n;          /* members or entries */
    const char *key;     /* the name of a member, UTF-8, NUL-terminated; otherwise NULL */
    /* `bytes` bytes: a text in UTF-8, followed by a NUL and without another NUL, or a number as the
     * body has it, not followed by a NUL. */
    const char *text;
    size_t bytes;
    struct api_json *child, *next, *up;
};

enum api_json_result {
    API_JSON_GOOD,
    API_JSON_BYTES,  /* the body is not UTF-8, or has \u0000 */
    API_JSON_WRONG,  /* the body is not JSON; *at is the offset of the first wrong byte */
    API_JSON_DEEP,   /* lists and objects are nested deeper than API_JSON_DEEPEST */
    API_JSON_MEMORY, /* the memory cannot hold all values of the body */
};

/* Read a body of n bytes and a NUL. The body is overwritten. Nodes come from m. */
enum api_json_result api_json_read(struct api_json **root, char *text, size_t n,
                                   struct api_memory *m, size_t *at);

/* Return the first member with this name, or NULL if there is none. This and all functions below
 * accept NULL as an absent value. */
const struct api_json *api_json_get(const struct api_json *object, const char *name);

/* Return the value's text, or NULL if it is not a text. */
const char *api_json_text(const struct api_json *v);

/* Return the text of a member, or NULL if it has none. */
const char *api_json_text_of(const struct api_json *object, const char *name);

/* True if the value is this text (_has_text: is a list that has this text). */
bool api_json_is_text(const struct api_json *v, const char *text);
bool api_json_has_text(const struct api_json *list, const char *text);

/* Return the value as a double, rounded, or NaN if it is not a number. */
double api_json_number(const struct api_json *v);

static inline bool api_json_is(const struct api_json *v, enum json_kind kind)
{
    return v != NULL && v->kind == kind;
}

static inline bool api_json_is_bool(const struct api_json *v)
{
    return api_json_is(v, JSON_TRUE) || api_json_is(v, JSON_FALSE);
}

/* Return true if the value is absent or null. */
static inline bool api_json_is_nothing(const struct api_json *v)
{
    return v == NULL || v->kind == JSON_NULL;
}

/* Append the value as compact JSON. */
void api_json_put(struct api_text *to, const struct api_json *v);

#define api_json_each(one, list) \
    for ((one) = (list) != NULL ? (list)->child : NULL; (one) != NULL; (one) = (one)->next)

#endif
