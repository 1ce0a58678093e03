/* The APIs in which a program can ask `ingot serve` for a reply. A reader (struct
 * serve_dialect_fields) translates the body into the fields of chat completions, which are
 * checked in one place (serve_request.h). A writer (struct serve_writer) puts the pieces of the
 * reply (serve_stream.h) into the API's own objects. */
#ifndef INGOT_HOST_SERVE_DIALECT_H
#define INGOT_HOST_SERVE_DIALECT_H

#include <cjson/cJSON.h>

#include "host/api/serve_stream.h"

/* A body being translated into the fields of chat completions. */
struct serve_translation {
    enum serve_dialect dialect;
    const cJSON *from;           /* the body: an object */
    char seed[SERVE_SEED_BYTES]; /* the digits of the body's seed; "": it has none */
    cJSON *to;                   /* the body's fields, named as in chat completions */
    cJSON *messages;             /* a list in `to`; NULL while it is empty */
    cJSON *echo;                 /* fields that the answer repeats; NULL: none */
    enum api_kind kind;
    bool loads;  /* the client only wants the model to be loaded */
    bool failed; /* no memory */
    struct api_error *e;
};

/* A field of a dialect. to: its name in chat completions, if the value stays the same; read:
 * translates the field. If both are NULL, the field is ignored. */
struct serve_dialect_field {
    const char *name, *to;
    bool (*read)(struct serve_translation *t, const char *name, const cJSON *value);
};

/* How a dialect is read. */
struct serve_dialect_fields {
    const struct serve_dialect_field *list; /* the last row has name NULL */
    /* Handles a field that is not in the list. NULL: such a field is refused. */
    bool (*other)(struct serve_translation *t, const cJSON *member);
    /* Called once all fields are read. NULL: nothing to do. */
    bool (*end)(struct serve_translation *t);
    const char *said;                         /* name of the field with the input: "input" */
    const struct serve_dialect_fields *inner; /* fields of an inner object; NULL: there is none */
};

/* How an answer is written. All functions add to *out; without memory they set out->failed. */
struct serve_writer {
    const char *stream_type; /* media type of a stream */
    void (*say)(const struct api_stream *s, const struct api_piece *p);
    /* Called after the last piece of all replies; n is 0 if the request failed. NULL: not
     * called. */
    void (*end)(struct api_text *out, const struct api_answer *a, const struct api_job *const *jobs,
                uint32_t n);
    void (*whole)(struct api_text *out, const struct api_answer *a,
                  const struct api_job *const *jobs, uint32_t n);
    void (*error)(struct api_text *out, const struct api_error *e);
};

const struct serve_writer *serve_writer_of(enum serve_dialect dialect);

/* Reads a body (`bytes` bytes, then a NUL) of a->dialect into *q, which was zeroed. Sets a->kind,
 * a->loads and *echo. False: *e names the dialect's field. Call serve_request_free in any case. */
bool serve_dialect_read(struct api_request *q, struct api_answer *a, struct api_text *echo,
                        const char *body, size_t bytes, const struct api_defaults *d,
                        struct api_error *e);

/* ---- for readers ------------------------------------------------------------------------------- */

/* Translates the fields of an object; prefix: "options." for the fields of an inner object, "" for
 * those of the body. */
bool serve_translate(struct serve_translation *t, const cJSON *object, const char *prefix,
                     const struct serve_dialect_fields *fields);

/* Adds a member to t->to or another object, which then owns the value. */
void serve_translate_put(struct serve_translation *t, cJSON *object, const char *name,
                         cJSON *value);

/* Adds a message that came from entry `at` of the input, and takes over `content` (NULL: null). */
cJSON *serve_translate_message(struct serve_translation *t, unsigned at, const char *role,
                               cJSON *content);

/* Adds a call to an assistant's message. arguments: a text or an object, which the message then
 * owns. */
void serve_translate_call(struct serve_translation *t, cJSON *message, const char *id,
                          const char *name, cJSON *arguments);

/* Fills t->e with status 400 and returns false. field: the field's name in the dialect. */
bool serve_translate_refuse(struct serve_translation *t, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* For serve_dialect_field.read: accepts only values that request nothing: null, false, "", [],
 * {}. */
bool serve_translate_nothing(struct serve_translation *t, const char *name, const cJSON *value);

/* Sets a schema as the field response_format. name and strict: NULL if there are none. */
void serve_translate_schema(struct serve_translation *t, const cJSON *schema, const cJSON *name,
                            const cJSON *strict);

/* The dialects. serve_NAME_read.c reads dialect NAME, serve_NAME.c writes it. */
extern const struct serve_dialect_fields serve_responses_fields, serve_ollama_chat_fields,
    serve_ollama_generate_fields, serve_ollama_embed_fields, serve_ollama_embeddings_fields,
    serve_anthropic_fields;
extern const struct serve_writer serve_responses_writer, serve_chat_writer, serve_ollama_writer,
    serve_anthropic_writer;

/* Writes seconds since 1970 as "2026-11-28T10:00:00Z". */
enum { SERVE_TIME_BYTES = 40 };
void serve_ollama_time(char text[SERVE_TIME_BYTES], int64_t seconds);

#endif
