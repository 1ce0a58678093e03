/* A text that grows in memory of a fixed size, or as its owner allows. `failed` says that something
 * did not fit. */
#ifndef INGOT_RUNTIME_API_TEXT_H
#define INGOT_RUNTIME_API_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct api_text {
    char *bytes; /* (n) and a NUL; NULL: nothing was added */
    size_t n, room;
    bool failed; /* there was no room: additions are missing */
    /* Give it `room` bytes or more. NULL: it cannot grow. */
    bool (*grow)(struct api_text *t, size_t room);
    void *memory; /* the owner's */
};

/* An empty text that does not grow. */
void api_text_open(struct api_text *t, char *memory, size_t room);

/* Append bytes unchanged; append formatted text, in which ' stands for every quote of the format;
 * append a text (bytes, UTF-8) with escapes, without or with the quotes around it. */
bool api_text_put(struct api_text *t, const char *bytes, size_t n);
__attribute__((format(printf, 2, 3))) void api_text_print(struct api_text *t, const char *format,
                                                          ...);
void api_text_escaped(struct api_text *t, const char *text, size_t bytes);
void api_text_quoted(struct api_text *t, const char *text, size_t bytes);
/* A number below 10^12 with up to six digits behind the point. */
void api_text_decimal(struct api_text *t, double value);
void api_text_quoted_or_null(struct api_text *t, const char *text); /* NULL, "": null */

/* Its bytes; "" if there are none. */
static inline const char *api_text_shown(const struct api_text *t)
{
    return t->bytes != NULL ? t->bytes : "";
}

#endif
