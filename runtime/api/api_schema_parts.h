/* Ways that read JSON's tokens, for api_schema.c. A blank or an indented new line may follow an
 * opening bracket or a comma, or precede a closing bracket. */
#ifndef INGOT_RUNTIME_API_SCHEMA_PARTS_H
#define INGOT_RUNTIME_API_SCHEMA_PARTS_H

#include "runtime/api/api_schema.h"

/* Limits that apply if a schema sets none, as in the compiler of `ingot serve`. */
enum { API_TEXT_MOST = 512, API_ITEMS_MOST = 64, API_DIGITS_MOST = 15, API_TIMES_MOST = 60000 };

void api_schema_open_bracket(struct api_schema *s, uint32_t from, uint32_t to, char bracket);
void api_schema_close_bracket(struct api_schema *s, uint32_t from, uint32_t to, char bracket);
void api_schema_comma(struct api_schema *s, uint32_t from, uint32_t to);
void api_schema_colon(struct api_schema *s, uint32_t from, uint32_t to);

/* Add a name and a colon; returns the state after them. */
uint32_t api_schema_key(struct api_schema *s, uint32_t from, const char *name);

/* _text adds a text of `least` to `most` characters; _text_to adds any text and returns the state
 * after it. */
void api_schema_text(struct api_schema *s, uint32_t least, uint32_t most, uint32_t from,
                     uint32_t to);
uint32_t api_schema_text_to(struct api_schema *s, uint32_t from);

/* _number adds any number (`whole`: without a fraction; `positive`: 0 or more); _whole adds the
 * number `value`. */
void api_schema_number(struct api_schema *s, bool whole, bool positive, uint32_t from, uint32_t to);
void api_schema_whole(struct api_schema *s, int32_t value, uint32_t from, uint32_t to);

/* Add a decimal point and digits. */
void api_schema_fraction(struct api_schema *s, uint32_t from, uint32_t to);

/* Add the whole numbers of a range and, unless `whole`, the fractions above 0 between them. */
void api_schema_range(struct api_schema *s, int32_t least, int32_t most, bool whole, uint32_t from,
                      uint32_t to);

/* Add a text in a format: date, time, date-time or uuid. Dates have no days 29 to 31, so that every
 * date is valid. Returns false for other formats. */
bool api_schema_format(struct api_schema *s, const char *format, uint32_t from, uint32_t to);

/* Add this value, as compact JSON. */
void api_schema_literal(struct api_schema *s, const struct api_json *v, uint32_t from, uint32_t to);

/* Add a value of any type. `depth` is the number of values of any type that enclose it. */
void api_schema_any(struct api_schema *s, unsigned depth, uint32_t from, uint32_t to);

/* Add a list in brackets: `least` to `most` runs of the part that begins at `item`, with commas
 * between them. */
void api_schema_list(struct api_schema *s, uint32_t item, uint32_t least, uint32_t most,
                     uint32_t from, uint32_t to, const char brackets[2]);

/* Find the schema of a $ref. Returns NULL if this document does not have the schema. */
const struct api_json *api_schema_find(const struct api_schema *s, const char *pointer);

/* Return the type of a schema's values, or NULL if they may have several. */
const char *api_schema_type(const struct api_schema *s, const struct api_json *v);

#endif
