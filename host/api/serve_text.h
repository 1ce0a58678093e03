/* Texts of `ingot serve` that grow by realloc: bodies that arrive, and answers. A zeroed struct is an empty text. */
#ifndef INGOT_HOST_SERVE_TEXT_H
#define INGOT_HOST_SERVE_TEXT_H

#include "runtime/api/api_text.h"

struct cJSON;

/* Makes a text grow by realloc; functions of api_text.h append to it too. */
void serve_text_grows(struct api_text *t);

/* Adds bytes. False: out of memory. */
bool serve_text_add(struct api_text *t, const char *bytes, size_t n);

/* Appends a formatted text, cut after 511 bytes. */
bool serve_text_say(struct api_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds the object as JSON without spaces, and deletes it. If it is NULL or memory runs out,
 * t->failed is set. U+007F is escaped, because it is a key on a line, although JSON does not count
 * it as a control character. */
void serve_text_add_json(struct api_text *t, struct cJSON *object);

/* Zero again. */
void serve_text_free(struct api_text *t);

#endif
