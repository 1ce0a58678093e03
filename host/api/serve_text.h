/* A text that grows, for `ingot serve`: bodies that arrive, and answers. */
#ifndef INGOT_HOST_SERVE_TEXT_H
#define INGOT_HOST_SERVE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct cJSON;

struct serve_text {
    char *bytes; /* (n) and a NUL; NULL: nothing was added */
    size_t n, room;
    bool failed; /* out of memory: later additions are missing */
};

/* Adds bytes. False: out of memory. */
bool serve_text_add(struct serve_text *t, const char *bytes, size_t n);

/* Adds a text by a format; more than 511 bytes are cut. */
bool serve_text_say(struct serve_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds the object as JSON without spaces, and deletes it. If it is NULL or memory runs out,
 * t->failed is set. U+007F is escaped: it is a key on a line, but not a control character in
 * JSON. */
void serve_text_add_json(struct serve_text *t, struct cJSON *object);

/* Zero again. */
void serve_text_free(struct serve_text *t);

/* Returns its bytes; "" if there are none. */
static inline const char *serve_text_shown(const struct serve_text *t)
{
    return t->bytes != NULL ? t->bytes : "";
}

#endif
