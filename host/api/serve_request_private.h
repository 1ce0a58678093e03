/* Common parts of serve_request.c and serve_texts.c; nobody else includes it. */
#ifndef INGOT_HOST_SERVE_REQUEST_PRIVATE_H
#define INGOT_HOST_SERVE_REQUEST_PRIVATE_H

#include <cjson/cJSON.h>

#include "flash_image/format/format.h"
#include "host/api/serve_request.h"

struct serve_reader {
    struct serve_request *q;
    const struct serve_defaults *d;
    struct serve_error *e;
    /* Members of the body that are read once all others are; NULL: absent. */
    const cJSON *tools, *tool_choice, *format, *json_schema, *grammar, *best_of;
    const char *body;   /* as it came */
    bool parallel;      /* a reply may have several calls */
    unsigned message;   /* which one of messages is read, for errors */
    const cJSON *calls; /* those of the message before, which tools answer; NULL: none */
    bool called;        /* there were calls, with numbers or without */
};

struct serve_field {
    const char *name;
    unsigned kinds;
    bool (*read)(struct serve_reader *r, const struct serve_field *f, const cJSON *value);
    size_t at; /* of a float in struct sampler_params; of what is kept in struct serve_reader */
    double least, most;                /* of a number */
    bool whole;                        /* it has no fraction */
    enum ingot_sampling_field samples; /* what it sets of a sampler; 0: something else */
};

/* The body (bytes, then a NUL) as JSON, which the caller deletes. NULL: *e says what is wrong. */
cJSON *serve_body_parse(const char *body, size_t bytes, struct serve_error *e);

/* The number that a member of the body's object has, as it stands there; the body is JSON. False: there is none of less
 * than `room` characters. */
bool serve_body_number(const char *body, const char *name, char *text, size_t room);

/* serve_hints.c: whether the field changes no reply. *good: with this value; else r->e says why not. */
bool serve_hint_read(struct serve_reader *r, const cJSON *v, bool *good);

/* False, and r->e says that there is no memory. */
bool serve_no_memory(struct serve_reader *r);

/* An object's members are in `names`, null, or begin with x_. False: one is not, and the error names it. */
bool serve_members_known(struct serve_reader *r, const cJSON *object, const char *where,
                         const char *const *names);

/* "messages[3]: ..." */
bool serve_refuse_message(struct serve_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One more turn, or text of a request for embeddings; NULL: no memory, and r->e says so. */
struct serve_turn *serve_add_turn(struct serve_reader *r);

/* The fields messages, prompt, input and logit_bias. False: r->e says why not. */
bool serve_read_messages(struct serve_reader *r, const struct serve_field *f, const cJSON *value);
bool serve_read_prompt(struct serve_reader *r, const struct serve_field *f, const cJSON *value);
bool serve_read_bias(struct serve_reader *r, const struct serve_field *f, const cJSON *value);
bool serve_read_input(struct serve_reader *r, const struct serve_field *f, const cJSON *value);

/* serve_tools.c: what the reply is held to, once all fields are read. False: r->e. */
bool serve_tools_use(struct serve_reader *r);

/* serve_grammar.c: response_format, or json_schema. schema: the caller frees it; NULL: any object. */
struct serve_format {
    bool wanted, strict;
    char *schema;
};
bool serve_format_read(struct serve_reader *r, struct serve_format *f);
bool serve_format_use(struct serve_reader *r, const struct serve_format *f);
bool serve_grammar_use(struct serve_reader *r, const cJSON *grammar);

#endif
