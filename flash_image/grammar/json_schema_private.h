/* A text that grows, and functions that write texts, JSON and ranges of whole numbers as GBNF. */
#ifndef INGOT_FLASH_IMAGE_JSON_SCHEMA_PRIVATE_H
#define INGOT_FLASH_IMAGE_JSON_SCHEMA_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    char *s; /* NUL-terminated; NULL: empty */
    size_t n, room;
    bool failed; /* there was no memory */
};

void text_add(struct text *t, const char *s, size_t n);
void text_put(struct text *t, const char *s);
__attribute__((format(printf, 2, 3))) void text_format(struct text *t, const char *format, ...);

/* Append the whole numbers low .. high in decimal, as items of a rule; low <= high, at most 15
 * digits. */
void text_integers(struct text *t, int64_t low, int64_t high);

/* Append a value, given as compact JSON, as items of a rule; white space may stand between its
 * tokens. */
void text_json(struct text *t, const char *json);

/* Append the rules gap, comma, colon, char, integer, number and string; any: any0 and object0 as
 * well. */
void text_shared(struct text *t, bool any);

#endif
