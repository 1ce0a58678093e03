/* Common parts of the files that read a request, and of those that hold its reply to a form. */
#ifndef INGOT_RUNTIME_API_READER_H
#define INGOT_RUNTIME_API_READER_H

#include "flash_image/format/format.h"
#include "runtime/api/api_json.h"
#include "runtime/api/api_request.h"

struct api_reader {
    struct api_request *q;
    const struct api_defaults *d;
    struct api_error *e;
    /* Members of the body that are read when all others were; NULL: absent. */
    const struct api_json *tools, *tool_choice, *format, *json_schema, *grammar, *best_of;
    bool parallel;                /* a reply may have several calls */
    unsigned message;             /* index of the message that is read, for errors */
    const struct api_json *calls; /* calls of the message before, which tools answer; NULL: none */
    bool called;                  /* there were calls, with numbers or without */
};

struct api_field {
    const char *name;
    unsigned kinds;
    bool (*read)(struct api_reader *r, const struct api_field *f, const struct api_json *value);
    size_t at; /* offset of a float in struct sampler_params; offset in struct api_reader */
    double least, most;                /* of a number */
    bool whole;                        /* a whole number */
    enum ingot_sampling_field samples; /* the field of a sampler that it sets; 0: another */
};

/* api_fields.c: a member of the body. False: r->e says what is wrong. */
bool api_field_read(struct api_reader *r, const struct api_json *member);

/* api_hints.c: whether the field changes no reply. *good: with this value; else r->e says why not. */
bool api_hint_read(struct api_reader *r, const struct api_json *v, bool *good);

/* False, and r->e says that the request has no room. */
bool api_no_memory(struct api_reader *r);

/* Checks that an object's members are in `names`, null, or begin with x_. False: one is not, and
 * the error names it. */
bool api_members_known(struct api_reader *r, const struct api_json *object, const char *where,
                       const char *const *names);

/* "messages[3]: ..." */
bool api_refuse_message(struct api_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a turn, or a text of a request for embeddings. NULL: no memory, which r->e says. */
struct api_turn *api_add_turn(struct api_reader *r);

/* Reads the fields messages, prompt, input and logit_bias. False: r->e says why not. */
bool api_read_messages(struct api_reader *r, const struct api_field *f,
                       const struct api_json *value);
bool api_read_prompt(struct api_reader *r, const struct api_field *f, const struct api_json *value);
bool api_read_bias(struct api_reader *r, const struct api_field *f, const struct api_json *value);
bool api_read_input(struct api_reader *r, const struct api_field *f, const struct api_json *value);

/* api_tools.c: what the reply is held to, once all fields are read. False: r->e. */
bool api_tools_use(struct api_reader *r);

/* api_format.c: response_format, or json_schema. schema NULL: any object. */
struct api_format {
    bool wanted, strict;
    const char *schema;
};
bool api_format_read(struct api_reader *r, struct api_format *f);
bool api_format_use(struct api_reader *r, const struct api_format *f);
bool api_grammar_use(struct api_reader *r, const struct api_json *grammar);

/* A schema as text: of a function's arguments, or (name NULL) of what a reply is when it is not a call. */
struct api_held {
    const char *name, *schema;
    bool strict; /* unread fields are errors */
    bool loose;  /* left to the check */
};

enum { API_HELD_MOST = 129, API_CALLS_MOST = 8 };

/* A sentence for the answer's warnings. */
__attribute__((format(printf, 2, 3))) void api_warn(struct api_request *q, const char *format, ...);

/* The value as text; NULL: no memory, and r->e says so. */
const char *api_print(struct api_reader *r, const struct api_json *v);

#endif
