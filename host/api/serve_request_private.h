/* Declarations that only serve_request.c and serve_texts.c share. */
#ifndef INGOT_HOST_SERVE_REQUEST_PRIVATE_H
#define INGOT_HOST_SERVE_REQUEST_PRIVATE_H

#include <cjson/cJSON.h>

#include "flash_image/format/format.h"
#include "host/api/serve_request.h"

struct serve_reader {
    struct serve_request *q;
    const struct serve_defaults *d;
    struct serve_error *e;
    /* Members of the body that are read when all others were; NULL: absent. */
    const cJSON *tools, *tool_choice, *format, *json_schema, *grammar, *best_of;
    const char *body;   /* as it came */
    bool parallel;      /* a reply may have several calls */
    unsigned message;   /* index of the message that is read, for errors */
    const cJSON *calls; /* calls of the message before, which tools answer; NULL: none */
    bool called;        /* there were calls, with numbers or without */
};

struct serve_field {
    const char *name;
    unsigned kinds;
    bool (*read)(struct serve_reader *r, const struct serve_field *f, const cJSON *value);
    size_t at; /* offset of a float in struct sampler_params; offset in struct serve_reader */
    double least, most;                /* of a number */
    bool whole;                        /* a whole number */
    enum ingot_sampling_field samples; /* the field of a sampler that it sets; 0: another */
};

/* Reads the body (bytes, then a NUL) as JSON, which the caller deletes. NULL: *e says what is
 * wrong. */
cJSON *serve_body_parse(const char *body, size_t bytes, struct serve_error *e);

/* Copies the number that a member of the body's object has, as it was written; the body is JSON.
 * False: there is none of less than `room` characters. */
bool serve_body_number(const char *body, const char *name, char *text, size_t room);

/* In serve_hints.c: whether the field changes no reply. *good: with this value; else r->e says why
 * not. */
bool serve_hint_read(struct serve_reader *r, const cJSON *v, bool *good);

/* Says in r->e that there is no memory, and returns false. */
bool serve_no_memory(struct serve_reader *r);

/* Checks that an object's members are in `names`, null, or begin with x_. False: one is not, and
 * the error names it. */
bool serve_members_known(struct serve_reader *r, const cJSON *object, const char *where,
                         const char *const *names);

/* "messages[3]: ..." */
bool serve_refuse_message(struct serve_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a turn, or a text of a request for embeddings. NULL: no memory, which r->e says. */
struct serve_turn *serve_add_turn(struct serve_reader *r);

/* Reads the fields messages, prompt, input and logit_bias. False: r->e says why not. */
bool serve_read_messages(struct serve_reader *r, const struct serve_field *f, const cJSON *value);
bool serve_read_prompt(struct serve_reader *r, const struct serve_field *f, const cJSON *value);
bool serve_read_bias(struct serve_reader *r, const struct serve_field *f, const cJSON *value);
bool serve_read_input(struct serve_reader *r, const struct serve_field *f, const cJSON *value);

/* In serve_tools.c: sets what a reply may be, when all fields are read. False: r->e. */
bool serve_tools_use(struct serve_reader *r);

/* In serve_grammar.c: reads response_format or json_schema. The caller frees schema; NULL: any
 * object. */
struct serve_format {
    bool wanted, strict;
    char *schema;
};
bool serve_format_read(struct serve_reader *r, struct serve_format *f);
bool serve_format_use(struct serve_reader *r, const struct serve_format *f);
bool serve_grammar_use(struct serve_reader *r, const cJSON *grammar);

#endif
