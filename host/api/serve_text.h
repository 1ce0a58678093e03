/* A text that grows, for `ingot serve`: bodies that come in, answers that go out. */
#ifndef INGOT_HOST_SERVE_TEXT_H
#define INGOT_HOST_SERVE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct cJSON;

struct serve_text {
    char *bytes; /* (n) and a NUL; NULL: nothing was added */
    size_t n, room;
    bool failed; /* no memory: what was added then is missing */
};

/* False: no memory. */
bool serve_text_add(struct serve_text *t, const char *bytes, size_t n);

/* The same by a format; what is longer than 511 bytes is cut. */
bool serve_text_say(struct serve_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The object without spaces, and it is gone: NULL, or no memory for its text, is t->failed. U+007F, a key on a line and no
 * control character to JSON, is escaped. */
void serve_text_add_json(struct serve_text *t, struct cJSON *object);

/* Zero again. */
void serve_text_free(struct serve_text *t);

/* Its bytes; "" where there are none. */
static inline const char *serve_text_shown(const struct serve_text *t)
{
    return t->bytes != NULL ? t->bytes : "";
}

#endif
