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
    /* Members of the body that are read after all others. An absent member is NULL. */
    const struct api_json *tools, *tool_choice, *format, *json_schema, *grammar, *best_of;
    bool parallel;                /* a reply may have several calls */
    unsigned message;             /* index of the message being read, for errors */
    const struct api_json *calls; /* calls of the last message that has any, for the tool messages
                                   * that answer these calls; or NULL */
    bool called;                  /* some message had calls, with ids or without */
};

struct api_field {
    const char *name;
    unsigned kinds;
    bool (*read)(struct api_reader *r, const struct api_field *f, const struct api_json *value);
    size_t at;          /* offset in struct sampler_params (of a float) or in struct api_reader */
    double least, most; /* limits of a number */
    bool whole;         /* the field must be a whole number */
    enum ingot_sampling_field samples; /* the sampler's field that this row sets, or 0 */
};

/* Read a member of the body (api_fields.c). If it returns false, r->e says what is wrong. */
bool api_field_read(struct api_reader *r, const struct api_json *member);

/* Return true if the field changes no reply (api_hints.c). *good is true if its value is accepted;
 * otherwise r->e says why not. */
bool api_hint_read(struct api_reader *r, const struct api_json *v, bool *good);

/* Set r->e to the error that there is no memory for the request, and return false. */
bool api_no_memory(struct api_reader *r);

/* Check that each member of an object has a name in `names` or one that begins with x_, or is null.
 * Otherwise returns false, and the error names the member. */
bool api_members_known(struct api_reader *r, const struct api_json *object, const char *where,
                       const char *const *names);

/* Refuse the current message with an error such as "messages[3]: ...". */
bool api_refuse_message(struct api_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Add a turn, or a text for embeddings. Returns NULL, with r->e set, if there is no memory. */
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

/* The schema of a function's arguments or, if name is NULL, of a reply that is not a call. */
struct api_held {
    const char *name, *schema;
    bool strict; /* keywords that are neither enforced nor checked are errors */
    bool loose;  /* the schema does not constrain the reply, which is checked against it when it has
                  * ended */
};

enum { API_HELD_MOST = 129, API_CALLS_MOST = 8 };

/* Add a sentence to the answer's warnings. */
__attribute__((format(printf, 2, 3))) void api_warn(struct api_request *q, const char *format, ...);

/* Return the value as text, or NULL, with r->e set, if there is no memory. */
const char *api_print(struct api_reader *r, const struct api_json *v);

#endif
