/* A rule for replies, applied token by token: a grammar, a list of words. It is asked before the
 * sampler and before the judge of guesses alike, so that a draft changes no text. */
#ifndef INGOT_RUNTIME_CONSTRAINT_H
#define INGOT_RUNTIME_CONSTRAINT_H

#include <stdint.h>

struct constraint {
    void *context;
    /* Set the logit of every token that may not come next to minus infinity; logits (vocab) f32.
     * At least one stays, a token that ends the reply among them where it may end. */
    void (*mask)(void *context, float *logits, uint32_t vocab);
    /* The token came next. */
    void (*accept)(void *context, uint32_t id);
};

#endif
