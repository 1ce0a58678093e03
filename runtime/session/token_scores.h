/* The model's scores for the taken token and the most likely tokens: the logarithms of their
 * probabilities before temperature, penalties, filters and grammar. The numbers are the same on
 * every machine. */
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
    uint32_t n; /* number of entries in `likeliest` */
    struct token_score taken, likeliest[TOKEN_SCORES_MOST];
    double log_sum; /* sum over all e^logit */
};

/* Read the n <= TOKEN_SCORES_MOST most likely tokens, the lower id first among equals. NaN
 * comes last. logits (vocab) f32, 16-byte aligned, do not change. */
void token_scores_read(struct token_scores *s, uint32_t n, const float *logits, uint32_t vocab,
                       const struct kernels *k);

/* Set the score of the taken token id, which had this logit. */
void token_scores_take(struct token_scores *s, uint32_t id, float logit);

#endif
