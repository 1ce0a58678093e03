/* Ways of JSON's tokens, for api_schema.c. White space may stand where models write it: a blank or an
 * indented new line after an opening bracket and a comma, and before a closing bracket. */
#ifndef INGOT_RUNTIME_API_SCHEMA_PARTS_H
#define INGOT_RUNTIME_API_SCHEMA_PARTS_H

#include "runtime/api/api_schema.h"

/* Limits of what a schema leaves open, as the compiler of `ingot serve` has them. */
enum { API_TEXT_MOST = 512, API_ITEMS_MOST = 64, API_DIGITS_MOST = 15, API_TIMES_MOST = 60000 };

void api_schema_open_bracket(struct api_schema *s, uint32_t from, uint32_t to, char bracket);
void api_schema_close_bracket(struct api_schema *s, uint32_t from, uint32_t to, char bracket);
void api_schema_comma(struct api_schema *s, uint32_t from, uint32_t to);
void api_schema_colon(struct api_schema *s, uint32_t from, uint32_t to);

/* A name and a colon; returns the state behind them. */
uint32_t api_schema_key(struct api_schema *s, uint32_t from, const char *name);

/* A text of so many characters; any text, which returns the state behind it. */
void api_schema_text(struct api_schema *s, uint32_t least, uint32_t most, uint32_t from,
                     uint32_t to);
uint32_t api_schema_text_to(struct api_schema *s, uint32_t from);

/* A number, which has no fraction (whole), and is not negative (positive); this whole number. */
void api_schema_number(struct api_schema *s, bool whole, bool positive, uint32_t from, uint32_t to);
void api_schema_whole(struct api_schema *s, int32_t value, uint32_t from, uint32_t to);

/* A point and digits. */
void api_schema_fraction(struct api_schema *s, uint32_t from, uint32_t to);

/* A text in a format: date, time, date-time or uuid, each without the days 29 to 31 and the like, so that all of them are right. False: another
 * format. */
bool api_schema_format(struct api_schema *s, const char *format, uint32_t from, uint32_t to);

/* This value, as compact JSON. */
void api_schema_literal(struct api_schema *s, const struct api_json *v, uint32_t from, uint32_t to);

/* A value of any type; depth: in how many values of any type it is. */
void api_schema_any(struct api_schema *s, unsigned depth, uint32_t from, uint32_t to);

/* The part that begins at `item`, `least` to `most` times with commas between them, in brackets. */
void api_schema_list(struct api_schema *s, uint32_t item, uint32_t least, uint32_t most,
                     uint32_t from, uint32_t to, const char brackets[2]);

#endif
