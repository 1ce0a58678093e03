/* A reply token by token: the text that each token adds, and whether the reply ends with it.
 * Used for a single reply (generate.c) and for parallel replies (replies.c). */
#ifndef INGOT_RUNTIME_REPLY_TOKENS_H
#define INGOT_RUNTIME_REPLY_TOKENS_H

#include "runtime/session/generate.h"
#include "runtime/session/repetition.h"

/* The owner sets the first four members. The struct must not move after the reply has begun. */
struct reply_tokens {
    struct session *session;
    const struct generate_params *params;
    const struct generate_sink *sink;
    struct generate_result *result;
    struct reply_text text;
    struct reply_text_out out;
    struct repetition repetition;
    uint32_t previous; /* the token before the next one */
};

/* The prompt is computed: tell the sink that the reply begins. */
void reply_tokens_begin(struct reply_tokens *r);

/* Return true if id ends the reply without being part of it. */
bool reply_tokens_is_end(const struct reply_tokens *r, uint32_t id);

/* If there is a constraint, call reply_tokens_keep before the sampler destroys the logits (vocab),
 * and then reply_tokens_allow with the sampled token. The second function returns the token if it
 * may come next, otherwise another allowed token, or INGOT_NO_TOKEN if none is allowed (see
 * result->end). */
void reply_tokens_keep(struct reply_tokens *r, const float *logits);
uint32_t reply_tokens_allow(struct reply_tokens *r, uint32_t id, struct sampler *sampler,
                            float *logits);

/* If the params ask for scores, the first function reads the scores from the logits before the
 * sampler destroys them. The second function then passes the scores of the picked token id to the
 * sink, which gets the token next. */
void reply_tokens_read_scores(const struct reply_tokens *r, struct token_scores *s,
                              const float *logits);
void reply_tokens_say_scores(const struct reply_tokens *r, struct token_scores *s, uint32_t id,
                             const struct sampler *sampler);

/* Return why a reply ended with its last token: by itself, or because the constraint led it to an
 * end. */
enum generate_end reply_tokens_ended(const struct reply_tokens *r);

/* id is the reply's next token: count it, and pass its text to the sink. */
void reply_tokens_take(struct reply_tokens *r, uint32_t id);

/* Return true if the reply ends with the taken token, *latest in the ids; result->end says why. */
bool reply_tokens_end_here(struct reply_tokens *r, const uint32_t *latest);

/* Call when the reply has ended, perhaps by an error: writes text that was held back. */
void reply_tokens_end(struct reply_tokens *r);

#endif
