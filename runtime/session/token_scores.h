/* The model's scores for the token that was taken and the likeliest ones, in the logarithm of their share, before
 * sampling: without temperature, penalty, filters and grammar. The same numbers on every machine. */
#ifndef INGOT_RUNTIME_TOKEN_SCORES_H
#define INGOT_RUNTIME_TOKEN_SCORES_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

enum { TOKEN_SCORES_MOST = 20 };

struct token_score {
    uint32_t id;
    double log_share; /* NaN: the logits are not numbers */
};

struct token_scores {
    uint32_t n; /* of likeliest */
    struct token_score taken, likeliest[TOKEN_SCORES_MOST];
    double log_sum; /* of all e^logit */
};

/* For logits (vocab) f32, 16-byte aligned, which stay as they are: the n <= TOKEN_SCORES_MOST likeliest, of
 * equals the lower id first. */
void token_scores_read(struct token_scores *s, uint32_t n, const float *logits, uint32_t vocab,
                       const struct kernels *k);

/* Token id is taken, whose logit was this. */
void token_scores_take(struct token_scores *s, uint32_t id, float logit);

#endif
