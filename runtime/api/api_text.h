/* A JSON text that grows in memory of a fixed size; what does not fit is noted. */
#ifndef INGOT_RUNTIME_API_TEXT_H
#define INGOT_RUNTIME_API_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct api_text {
    char *text; /* (n) of `room` bytes, one of which is kept for a NUL */
    size_t n, room;
    bool full; /* something did not fit, so the text cannot be used */
};

void api_text_open(struct api_text *t, char *memory, size_t room);

/* Append bytes as they stand; append formatted text, in which ' stands for every quote of the
 * format; append a text (bytes, UTF-8) with escapes, without or with the quotes around it. */
void api_text_put(struct api_text *t, const char *bytes, size_t n);
__attribute__((format(printf, 2, 3))) void api_text_print(struct api_text *t, const char *format,
                                                          ...);
void api_text_escaped(struct api_text *t, const char *text, size_t bytes);
void api_text_quoted(struct api_text *t, const char *text, size_t bytes);
void api_text_quoted_or_null(struct api_text *t, const char *text); /* "": null */

#endif
