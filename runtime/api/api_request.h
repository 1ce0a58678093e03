/* A program's request: the checked fields of OpenAI's API in the body of an HTTP request. The same
 * code reads it for a board and for `ingot serve`. */
#ifndef INGOT_RUNTIME_API_REQUEST_H
#define INGOT_RUNTIME_API_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/api/api_memory.h"
#include "runtime/api/api_text.h"
#include "runtime/session/reply_text.h"
#include "runtime/session/sampler.h"

enum {
    API_INPUTS_MOST = 256, /* the most texts of a request for embeddings */
    API_CHOICES_MOST = 8,  /* the most replies to one prompt */
    API_REPLIES_MOST = 64, /* the most replies to all prompts of a request */
    API_MODEL_BYTES = 128, /* of a model's name */
    API_PARAM_BYTES = 64,
    API_ERROR_TEXT_BYTES = 400
};

enum api_kind {
    API_CHAT,
    API_CONTINUE,
    API_EMBED,
    API_N_KINDS,
    /* A board also has the following kinds: */
    API_LINE, /* the body is a line of mode=json */
    API_LOAD, /* the body names another model to load */
};

/* Why there is no answer: an HTTP status and the fields of OpenAI's error object. */
struct api_error {
    int status;                  /* 0: none */
    const char *code;            /* constant; NULL: null */
    char param[API_PARAM_BYTES]; /* the field; "": null */
    char text[API_ERROR_TEXT_BYTES];
};

struct api_turn {
    struct api_text user, reply;
    size_t said;            /* bytes of the last message with the role user, at the end of `user` */
    struct api_text system; /* instructions that came in the middle of the conversation */
    struct api_text
        tokens;      /* token ids (uint32_t) of a prompt or input that came as tokens instead of
                      * text */
    bool spoken;     /* `user` has content from a person or a tool */
    bool instructed; /* the turn has instructions */
    bool replied;    /* the turn has a reply; only the last turn has none */
};

/* A finished reply is checked against this schema: the arguments of the function `tool` or, if
 * `tool` is NULL, the content. */
struct api_checked {
    const char *tool, *schema;
};

struct api_reader;
struct api_held;

/* The functions that constrain replies to a form. Each sets q->grammar, or fills r->e and returns
 * false. */
struct api_holder {
    /* Allows up to `most` calls of the functions in `list` (n) and, if the last entry has no name,
     * a reply that follows its schema (api_reader.h). must: the reply must have a call. */
    bool (*hold)(struct api_reader *r, struct api_held *list, unsigned n, bool must, unsigned most);
    /* Allows any JSON object. */
    bool (*object)(struct api_reader *r);
    /* Takes the grammar that the caller sent, or a list of choices. */
    bool (*grammar)(struct api_reader *r, const char *text);
};

/* Defaults for fields that a request omits. */
struct api_defaults {
    char model[API_MODEL_BYTES];
    const char *system;            /* NULL: the model's own */
    struct sampler_params sampler; /* the seed is used only if `seeded` */
    uint32_t chosen;               /* as in struct api_request */
    bool seeded;
    bool no_thinking;
    uint32_t n;
    const struct api_holder *holder;
};

struct api_request {
    enum api_kind kind;
    struct api_memory *memory; /* holds everything to which the request points */
    struct api_turn
        *turns; /* (n_turns >= 1) the conversation, the texts to continue, or the texts to
                               * embed */
    uint32_t n_turns, turns_room;
    uint32_t prompt; /* API_CONTINUE: number of the turn that this reply continues */
    struct api_text system;
    bool has_system;
    bool stream, stream_usage, no_thinking;
    bool echo;            /* API_CONTINUE: the answer begins with the prompt */
    uint32_t n_choices;   /* replies; 0: one */
    bool wants_scores;    /* the answer gets each token's score */
    uint32_t n_likeliest; /* number of likeliest tokens that are scored as well */
    bool unmarked;        /* the line gets no `said` */
    bool plain_sampler;   /* the line gets neither penalties nor biases */
    bool may_call;        /* the reply may be a call of a function (api_call.h) */
    bool checks_names;    /* after the reply, also check that the called function exists */
    bool seeded;
    bool base64;         /* API_EMBED: write vectors as base64 of f32, not as text */
    uint32_t dimensions; /* API_EMBED: the length of each vector, or 0 for all numbers */
    uint32_t n;          /* the most tokens of a reply, or 0 for no limit */
    char stops[REPLY_TEXT_STOPS][REPLY_TEXT_STOP_BYTES];
    uint32_t n_stops;
    struct sampler_params sampler; /* the biases are in the next member */
    struct api_text biases;        /* a list as json_biases.h reads it; n is 0 without biases */
    uint32_t
        chosen; /* bits of enum ingot_sampling_field: the fields of `sampler` that the request or an option of the server sets */
    void *grammar; /* (grammar_bytes) compiled; NULL: none */
    size_t grammar_bytes;
    struct api_checked *checked; /* (n_checked) */
    uint32_t n_checked;
    struct api_text warnings; /* JSON strings for the answer, with commas between them */
};

/* Read a body (bytes, then a NUL). The body is overwritten; q points to texts in it. *q must be
 * zero except for its memory. If it returns false, *e says why. */
bool api_request_read(struct api_request *q, enum api_kind kind, char *body, size_t bytes,
                      const struct api_defaults *d, struct api_error *e);

/* Parse a body (bytes, then a NUL) as a tree, whose texts lie in the body. If it returns false, *e
 * says what is wrong. */
struct api_json;
bool api_body_parse(struct api_json **root, char *body, size_t bytes, struct api_memory *m,
                    struct api_error *e);

/* Fill *e and return false. `param` is the wrong field, or NULL. */
bool api_refuse(struct api_error *e, int status, const char *param, const char *code,
                const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
