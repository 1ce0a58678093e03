/* The model's scores for each token of a reply, for the field logprobs: kept as records, put in
 * OpenAI's two forms. */
#ifndef INGOT_RUNTIME_API_SCORES_H
#define INGOT_RUNTIME_API_SCORES_H

#include "runtime/api/api_request.h"
#include "runtime/session/token_scores.h"

enum { API_SCORES_MOST = TOKEN_SCORES_MOST /* likeliest tokens */ };

struct api_score {
    uint32_t id;
    double logprob;
    const char *text; /* bytes that it adds */
    size_t bytes;
    bool exact; /* the text is these bytes, and not whole characters */
};

/* Append a token, and the most likely ones (n). False: there is no room. */
bool api_scores_add(struct api_text *scores, const struct api_score *taken,
                    const struct api_score *likeliest, uint32_t n);

/* How many of them were sent. */
struct api_scores_at {
    size_t bytes, characters;
};

/* Append the value of logprobs, with the tokens from *at on; null: there are none. */
void api_scores_put(struct api_text *out, enum api_kind kind, const struct api_text *scores,
                    struct api_scores_at *at);

#endif
