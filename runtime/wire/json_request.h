/* Read a request of mode=json (docs/SERIAL.md). This code prints nothing. */
#ifndef INGOT_RUNTIME_JSON_REQUEST_H
#define INGOT_RUNTIME_JSON_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

/* For rows of options.def: keep the arguments if JSON may set the option. */
#define JSON_REQUEST_START(...)
#define JSON_REQUEST_PRESET(...)
#define JSON_REQUEST_SET_PRESET(...)
#define JSON_REQUEST_PRESET_JSON(...) __VA_ARGS__,
#define JSON_REQUEST_SET_PRESET_JSON(...) __VA_ARGS__,

enum json_field {
    JSON_FIELD_ID,
    JSON_FIELD_PROMPT,
    JSON_FIELD_COMMAND,
    JSON_FIELD_RESET,
    JSON_FIELD_ADAPTER,
    JSON_FIELD_MESSAGES, /* fields of protocol 2 from here on */
    JSON_FIELD_RAW,
    JSON_FIELD_GRAMMAR,
    JSON_FIELD_HELLO,
    JSON_FIELD_CHECK,
    JSON_FIELD_IDS,
    JSON_FIELD_TOKENIZE,
    JSON_FIELD_EMBEDDING,
    JSON_FIELD_MODELS,
    JSON_FIELD_LOAD,
    JSON_FIELD_STATS,
    JSON_FIELD_PLAN,
    JSON_FIELD_CANCEL,
    JSON_FIELD_RESEND,
    JSON_FIELD_CONVERSATION,
    JSON_FIELD_LOGPROBS,
    JSON_FIELD_LOGIT_BIAS,
/* options that a request may set, under their names: rows of options.def */
#define OPTION(id, name, group, member, type, initial, where, ...) \
    JSON_REQUEST_##where(JSON_FIELD_##id)
#include "runtime/options/options.def"
    JSON_N_FIELDS,
    JSON_FIELD_OPTIONS = JSON_FIELD_LOGIT_BIAS + 1 /* the first option */
};

enum { JSON_ID_BYTES = 65 /* size of the field id, with its NUL */ };

struct json_request {
    char *values[JSON_N_FIELDS]; /* values as text, also numbers and lists; NULL: the field is
                                  * absent */
    size_t bytes[JSON_N_FIELDS]; /* lengths of the values */
    bool id_is_text, stop_is_list;
    /* The first error of the request; error is NULL if there is none. */
    const char *error; /* "json" or "field" */
    size_t column;     /* number of the wrong byte, from 1; 0: none */
    const char *field; /* the field with the error; NULL: no known field */
    char text[96];
};

/* Return the name of a field. */
const char *json_field_name(enum json_field field);

/* Read line (bytes, followed by a NUL), which is overwritten and keeps the values. Fields that
 * begin with x_ are ignored. If the JSON is wrong, the fields before the error are read. Otherwise
 * all fields are read, so that the id is known even if another field is wrong. */
void json_request_read(struct json_request *r, char *line, size_t bytes);

#endif
