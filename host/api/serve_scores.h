/* The model's scores for each token of a reply, for the field logprobs: stored as JSON, sent in
 * OpenAI's two forms. */
#ifndef INGOT_HOST_SERVE_SCORES_H
#define INGOT_HOST_SERVE_SCORES_H

#include "host/api/serve_request.h"
#include "runtime/session/session.h"
#include "runtime/session/token_scores.h"

enum { SERVE_SCORES_MOST = TOKEN_SCORES_MOST /* likeliest tokens */ };

struct serve_score {
    uint32_t id;
    double logprob;
    const char *text; /* bytes that it adds */
    size_t bytes;
    bool exact; /* the text is these bytes, and not whole characters */
};

/* Adds a token, and the likeliest ones (n). */
void serve_scores_add(struct serve_text *scores, const struct serve_score *taken,
                      const struct serve_score *likeliest, uint32_t n);

/* Does the same for a session's next token. */
void serve_scores_take(struct serve_text *scores, const struct session *s,
                       const struct token_scores *t);

/* Returns how many of them were sent. */
struct serve_scores_at {
    size_t bytes, characters;
};

struct cJSON;

/* Returns the value of logprobs with the tokens from *at on; null: there are none. */
struct cJSON *serve_scores_answer(enum serve_kind kind, const struct serve_text *scores,
                                  struct serve_scores_at *at);

#endif
