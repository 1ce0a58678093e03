/* A program's request to `ingot serve`: OpenAI's fields from the body of an HTTP request,
 * checked. */
#ifndef INGOT_HOST_SERVE_REQUEST_H
#define INGOT_HOST_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/api/serve_text.h"
#include "runtime/session/reply_text.h"
#include "runtime/session/sampler.h"

enum {
    SERVE_BODY_BYTES = 1 << 20, /* the most of a request */
    SERVE_INPUTS_MOST = 256,    /* the most texts of a request for embeddings */
    SERVE_CHOICES_MOST = 8,     /* replies to one prompt */
    SERVE_REPLIES_MOST = 64,    /* the most for all prompts of a request */
    SERVE_MODEL_BYTES = 128,    /* of a model's name */
    SERVE_PARAM_BYTES = 64,
    SERVE_ERROR_TEXT_BYTES = 400
};

enum serve_kind { SERVE_CHAT, SERVE_CONTINUE, SERVE_EMBED, SERVE_N_KINDS };

/* Why there is no answer: an HTTP status and the fields of OpenAI's error object. */
struct serve_error {
    int status;                    /* 0: none */
    const char *code;              /* constant; NULL: null */
    char param[SERVE_PARAM_BYTES]; /* the field; "": null */
    char text[SERVE_ERROR_TEXT_BYTES];
};

struct serve_turn {
    struct serve_text user, reply;
    size_t said; /* bytes at the end of `user` that are the last message with the role user */
    struct serve_text system; /* instructions that came in the middle of the conversation */
    struct serve_text
        tokens;  /* given instead of a text: numbers of type uint32_t, of a prompt or an input */
    bool spoken; /* somebody, or a tool, says something in it */
    bool instructed; /* it has instructions */
    bool replied;    /* the last turn alone is not */
};

/* A schema that a finished reply is checked against: of a function's arguments, or (tool NULL) of
 * the content. */
struct serve_checked {
    char *tool, *schema;
};

/* Defaults for fields that a request omits. */
struct serve_defaults {
    char model[SERVE_MODEL_BYTES];
    const char *system;            /* NULL: the model's own */
    struct sampler_params sampler; /* the seed of `sampler`, if seeded */
    uint32_t chosen;               /* as in struct serve_request */
    bool seeded;
    bool no_thinking;
    uint32_t n;
};

struct serve_request {
    enum serve_kind kind;
    struct serve_turn *turns; /* (n_turns), at least one; SERVE_CONTINUE: the texts to continue, one
                               * for each reply; SERVE_EMBED: the texts */
    uint32_t n_turns;
    uint32_t prompt; /* SERVE_CONTINUE: which of them this reply continues */
    struct serve_text system;
    bool has_system;
    bool stream, stream_usage, no_thinking;
    bool echo;            /* SERVE_CONTINUE: the answer begins with the prompt */
    uint32_t n_choices;   /* replies; 0: one */
    bool wants_scores;    /* how many scores for each token, and for each ... */
    uint32_t n_likeliest; /* ... so many others */
    bool unmarked;        /* for a board that does not know `said` */
    bool plain_sampler;   /* for a board that knows neither penalties nor biases */
    bool may_call;        /* the reply may be a call of a function (serve_call.h) */
    bool checks_names;    /* the check of the finished reply looks whether the function exists */
    bool seeded;
    bool base64;         /* SERVE_EMBED: numbers as bytes of f32, not as text */
    uint32_t dimensions; /* SERVE_EMBED: numbers of each vector; 0: all */
    uint32_t n;          /* the most tokens; 0: until the model ends */
    char stops[REPLY_TEXT_STOPS][REPLY_TEXT_STOP_BYTES];
    uint32_t n_stops;
    struct sampler_params sampler; /* without its biases, which are: */
    struct serve_text biases;      /* a list that json_biases.h reads; n 0: none */
    uint32_t
        chosen; /* bits of enum ingot_sampling_field: the fields of `sampler` that the request or an option of the server sets */
    void *grammar; /* (grammar_bytes) compiled; NULL: none */
    size_t grammar_bytes;
    struct serve_checked *checked; /* (n_checked) */
    uint32_t n_checked;
    struct serve_text warnings; /* texts of JSON for the answer, with commas between them */
};

/* Reads a body (bytes, then a NUL) into *q, which was zeroed. False: *e says why not. Call
 * serve_request_free in any case. */
bool serve_request_read(struct serve_request *q, enum serve_kind kind, const char *body,
                        size_t bytes, const struct serve_defaults *d, struct serve_error *e);

/* Does the same for a body that is JSON already; its text is needed for whole numbers with more
 * digits. */
struct cJSON;
bool serve_request_read_json(struct serve_request *q, enum serve_kind kind,
                             const struct cJSON *root, const char *body,
                             const struct serve_defaults *d, struct serve_error *e);

void serve_request_free(struct serve_request *q);

/* Copies a request into *to, which was zeroed. False: no memory. */
bool serve_request_copy(struct serve_request *to, const struct serve_request *from);

/* Fills *e and returns false. param: NULL or a field. */
bool serve_refuse(struct serve_error *e, int status, const char *param, const char *code,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
