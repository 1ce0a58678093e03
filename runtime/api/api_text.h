/* A text that grows in memory of a fixed size, or as its owner allows. Once something does not fit,
 * `failed` is true. */
#ifndef INGOT_RUNTIME_API_TEXT_H
#define INGOT_RUNTIME_API_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct api_text {
    char *bytes; /* (n) and a NUL, or NULL if nothing was added */
    size_t n, room;
    bool failed; /* something did not fit and is missing */
    /* Gives the text `room` bytes or more. Without this function the text cannot grow. */
    bool (*grow)(struct api_text *t, size_t room);
    void *memory; /* the owner's */
};

/* Set up an empty text that does not grow. */
void api_text_open(struct api_text *t, char *memory, size_t room);

/* _put appends bytes unchanged. _print appends formatted text, where each ' of the format becomes a
 * double quote. _escaped appends a text (bytes, UTF-8) with JSON's escapes; _quoted also puts
 * quotes around it. */
bool api_text_put(struct api_text *t, const char *bytes, size_t n);
__attribute__((format(printf, 2, 3))) void api_text_print(struct api_text *t, const char *format,
                                                          ...);
void api_text_escaped(struct api_text *t, const char *text, size_t bytes);
void api_text_quoted(struct api_text *t, const char *text, size_t bytes);
/* Append a number below 10^12 with up to six digits after the point. */
void api_text_decimal(struct api_text *t, double value);
void api_text_quoted_or_null(struct api_text *t, const char *text); /* Append a quoted text; NULL
                                                                     * and "" become null. */

/* Return the text's bytes, or "" if there are none. */
static inline const char *api_text_shown(const struct api_text *t)
{
    return t->bytes != NULL ? t->bytes : "";
}

#endif
