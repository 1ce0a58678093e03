/* A body of JSON as a tree, read in place: texts are decoded in place, so that only the nodes take
 * memory. It reads what clients send rather than what RFC 8259 allows: half of a surrogate pair,
 * which is left when a client cuts a text inside a character, becomes U+FFFD. */
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
    const char *key;     /* of a member, UTF-8, NUL-terminated; otherwise NULL */
    /* (bytes) of a text: UTF-8, NUL-terminated, without another NUL; of a number: as it stands,
     * followed by anything. */
    const char *text;
    size_t bytes;
    struct api_json *child, *next, *up;
};

enum api_json_result {
    API_JSON_GOOD,
    API_JSON_BYTES,  /* it is not UTF-8, or has \u0000 */
    API_JSON_WRONG,  /* it is not JSON; *at: the byte that is wrong */
    API_JSON_MEMORY, /* it has more values than there is memory for */
};

/* text has n bytes and a NUL after them, and is overwritten. Nodes come from m. */
enum api_json_result api_json_read(struct api_json **root, char *text, size_t n,
                                   struct api_memory *m, size_t *at);

/* All functions below take NULL, which is nothing. The first member of that name; NULL: none. */
const struct api_json *api_json_get(const struct api_json *object, const char *name);

/* Its text; NULL: it is not a text. */
const char *api_json_text(const struct api_json *v);

/* The member's text, likewise. */
const char *api_json_text_of(const struct api_json *object, const char *name);

/* Its value, rounded to a double; NaN: it is not a number. */
double api_json_number(const struct api_json *v);

static inline bool api_json_is(const struct api_json *v, enum json_kind kind)
{
    return v != NULL && v->kind == kind;
}

static inline bool api_json_is_bool(const struct api_json *v)
{
    return api_json_is(v, JSON_TRUE) || api_json_is(v, JSON_FALSE);
}

/* Absent, or null. */
static inline bool api_json_is_nothing(const struct api_json *v)
{
    return v == NULL || v->kind == JSON_NULL;
}

/* Append the value as compact JSON. */
void api_json_put(struct api_text *to, const struct api_json *v);

#define api_json_each(one, list) \
    for ((one) = (list) != NULL ? (list)->child : NULL; (one) != NULL; (one) = (one)->next)

#endif
