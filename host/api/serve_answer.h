/* The answers of `ingot serve`: OpenAI's objects as JSON. All functions add to *out; if memory
 * runs out, out->failed is set. */
#ifndef INGOT_HOST_SERVE_ANSWER_H
#define INGOT_HOST_SERVE_ANSWER_H

#include "host/serve/serve_backend.h"
#include "host/api/serve_scores.h"

/* The API in which a request came, and in which its answer goes (serve_dialect.h). */
enum serve_dialect {
    SERVE_COMPLETIONS, /* OpenAI's chat completions, completions and embeddings */
    SERVE_RESPONSES,   /* OpenAI's responses */
    SERVE_OLLAMA_CHAT,
    SERVE_OLLAMA_GENERATE,
    SERVE_OLLAMA_EMBED,
    SERVE_OLLAMA_EMBEDDINGS,
    SERVE_ANTHROPIC, /* messages */
    SERVE_N_DIALECTS
};

/* For one request. */
struct serve_answer {
    enum serve_kind kind;
    uint64_t number; /* makes its id */
    int64_t created; /* seconds since 1970 */
    const char *model;
    enum serve_dialect dialect;
    bool loads;       /* there is nothing to reply to: its job is done from the beginning */
    const char *echo; /* JSON: request fields that the answer repeats; NULL: nothing */
};

void serve_answer_error(struct serve_text *out, const struct serve_error *e);

/* Writes {"object":"list",...} of /v1/models. */
void serve_answer_models(struct serve_text *out, const char *model, int64_t created);
/* Writes {"id":...,"object":"model",...} of /v1/models/NAME. */
void serve_answer_model(struct serve_text *out, const char *model, int64_t created);

/* Writes the whole replies of finished jobs (n >= 1), none of which has an error. */
void serve_answer_whole(struct serve_text *out, const struct serve_answer *a,
                        struct serve_job *const *jobs, uint32_t n);

/* In serve_vectors.c: writes the answer to a finished request for embeddings, cut to its
 * dimensions. */
struct cJSON *serve_vectors_answer(const char *model, const struct serve_job *j);

/* The parts of a reply. */
enum serve_item { SERVE_NO_ITEM, SERVE_THOUGHTS_ITEM, SERVE_TEXT_ITEM, SERVE_CALL_ITEM };

/* How many events of the reply were sent. */
struct serve_events {
    uint32_t index; /* index of the reply among those to the request */
    bool begun, ended;
    enum serve_item open;             /* the current item */
    uint32_t items;                   /* that were closed */
    size_t from;                      /* where the open one begins in its text */
    uint32_t calls;                   /* calls whose end was sent */
    size_t text, thoughts, arguments; /* bytes that were sent */
    uint32_t sequence;                /* for the writer: how many events were sent */
    struct serve_scores_at scores;
};

/* Writes the next events of chat completions and completions, up to the last one if the job is
 * done. The caller has its lock. */
void serve_answer_events(struct serve_text *out, const struct serve_answer *a,
                         const struct serve_job *j, struct serve_events *at);

#endif
