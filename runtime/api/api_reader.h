/* Declarations shared by the files that read a request and the files that constrain its reply to a
 * form. */
#ifndef INGOT_RUNTIME_API_READER_H
#define INGOT_RUNTIME_API_READER_H

#include "flash_image/format/format.h"
#include "runtime/api/api_json.h"
#include "runtime/api/api_request.h"

struct api_reader {
    struct api_request *q;
    const struct api_defaults *d;
    struct api_error *e;
    /* Members of the body that are read after all others; NULL: absent. */
    const struct api_json *tools, *tool_choice, *format, *json_schema, *grammar, *best_of;
    bool parallel;                /* a reply may have several calls */
    unsigned message;             /* index of the message being read, for errors */
    const struct api_json *calls; /* calls of the previous message that messages of tools answer;
                                   * NULL: none */
    bool called;                  /* there were calls, with ids or without */
};

struct api_field {
    const char *name;
    unsigned kinds;
    bool (*read)(struct api_reader *r, const struct api_field *f, const struct api_json *value);
    size_t at;          /* offset in struct sampler_params (of a float) or in struct api_reader */
    double least, most; /* limits of a number */
    bool whole;         /* only whole numbers are accepted */
    enum ingot_sampling_field samples; /* the sampler's field that it sets, or 0 */
};

/* Read a member of the body (api_fields.c). If it returns false, r->e says what is wrong. */
bool api_field_read(struct api_reader *r, const struct api_json *member);

/* Return true if the field changes no reply (api_hints.c). *good is true if its value is accepted;
 * otherwise r->e says why not. */
bool api_hint_read(struct api_reader *r, const struct api_json *v, bool *good);

/* Set r->e to the error that there is no memory for the request, and return false. */
bool api_no_memory(struct api_reader *r);

/* Check that each of an object's members is in `names`, is null or begins with x_. If one is not,
 * it returns false, and the error names it. */
bool api_members_known(struct api_reader *r, const struct api_json *object, const char *where,
                       const char *const *names);

/* "messages[3]: ..." */
bool api_refuse_message(struct api_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Add a turn, or a text for embeddings. Returns NULL without memory; r->e then says so. */
struct api_turn *api_add_turn(struct api_reader *r);

/* Read the fields messages, prompt, input and logit_bias. After an error r->e is set. */
bool api_read_messages(struct api_reader *r, const struct api_field *f,
                       const struct api_json *value);
bool api_read_prompt(struct api_reader *r, const struct api_field *f, const struct api_json *value);
bool api_read_bias(struct api_reader *r, const struct api_field *f, const struct api_json *value);
bool api_read_input(struct api_reader *r, const struct api_field *f, const struct api_json *value);

/* Set the form to which the reply is constrained, once all fields are read (api_tools.c). If it
 * returns false, r->e says why. */
bool api_tools_use(struct api_reader *r);

/* The value of response_format or json_schema (api_format.c). schema NULL: any object. */
struct api_format {
    bool wanted, strict;
    const char *schema;
};
bool api_format_read(struct api_reader *r, struct api_format *f);
bool api_format_use(struct api_reader *r, const struct api_format *f);
bool api_grammar_use(struct api_reader *r, const struct api_json *grammar);

/* A schema as text: of a function's arguments, or (name NULL) of a reply that is not a call. */
struct api_held {
    const char *name, *schema;
    bool strict; /* unread fields are errors */
    bool loose;  /* the schema is only checked in the finished reply */
};

enum { API_HELD_MOST = 129, API_CALLS_MOST = 8 };

/* Add a sentence to the answer's warnings. */
__attribute__((format(printf, 2, 3))) void api_warn(struct api_request *q, const char *format, ...);

/* Return the value as text, or NULL without memory; r->e then says so. */
const char *api_print(struct api_reader *r, const struct api_json *v);

#endif
