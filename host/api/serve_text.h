/* Texts of `ingot serve` that grow by realloc: bodies that arrive, and answers. A zeroed struct is
 * an empty text. */
#ifndef INGOT_HOST_SERVE_TEXT_H
#define INGOT_HOST_SERVE_TEXT_H

#include "runtime/api/api_text.h"

struct cJSON;

/* Makes a text grow by realloc, also when functions of api_text.h append to it. */
void serve_text_grows(struct api_text *t);

/* Adds bytes. False: out of memory. */
bool serve_text_add(struct api_text *t, const char *bytes, size_t n);

/* Appends a formatted text, cut after 511 bytes. */
bool serve_text_say(struct api_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds the object as JSON without spaces, and deletes it. If it is NULL or memory runs out,
 * t->failed is set. U+007F is escaped, although JSON allows it, because a board takes it as a key
 * on its line. */
void serve_text_add_json(struct api_text *t, struct cJSON *object);

/* Frees the text's memory; the struct is zero again. */
void serve_text_free(struct api_text *t);

#endif
