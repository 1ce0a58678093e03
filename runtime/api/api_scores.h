/* The model's scores for each token of a reply, for the field logprobs: they are kept as records
 * and written in OpenAI's two forms. */
#ifndef INGOT_RUNTIME_API_SCORES_H
#define INGOT_RUNTIME_API_SCORES_H

#include "runtime/api/api_request.h"
#include "runtime/session/token_scores.h"

enum { API_SCORES_MOST = TOKEN_SCORES_MOST /* likeliest tokens */ };

struct api_score {
    uint32_t id;
    double logprob;
    const char *text; /* the bytes that the token adds */
    size_t bytes;
    bool exact; /* the text has exactly these bytes, which may be a part of a character */
};

/* Append a token with the n likeliest tokens. Returns false if there is no room. */
bool api_scores_add(struct api_text *scores, const struct api_score *taken,
                    const struct api_score *likeliest, uint32_t n);

/* How much of the scores was sent. */
struct api_scores_at {
    size_t bytes, characters;
};

/* Append the value of logprobs for the tokens from *at on, or null if there are none. */
void api_scores_put(struct api_text *out, enum api_kind kind, const struct api_text *scores,
                    struct api_scores_at *at);

#endif
