/* A reply token by token: what each adds to the text, and whether the reply ends with it. The same for a reply
 * alone (generate.c) and of several side by side (replies.c). */
#ifndef INGOT_RUNTIME_REPLY_TOKENS_H
#define INGOT_RUNTIME_REPLY_TOKENS_H

#include "runtime/session/generate.h"
#include "runtime/session/repetition.h"

/* The first four are the owner's. It may not move once it has begun. */
struct reply_tokens {
    struct session *session;
    const struct generate_params *params;
    const struct generate_sink *sink;
    struct generate_result *result;
    struct reply_text text;
    struct reply_text_out out;
    struct repetition repetition;
    uint32_t previous; /* token */
};

/* The prompt is computed: the sink hears that the reply begins. */
void reply_tokens_begin(struct reply_tokens *r);

/* Whether id ends the reply, and is not part of it. */
bool reply_tokens_is_end(const struct reply_tokens *r, uint32_t id);

/* With a constraint: before the sampler destroys the logits (vocab); and of the token that was sampled from
 * them, itself where it may come next, else one that may, INGOT_NO_TOKEN: none may, and result->end says
 * so. */
void reply_tokens_keep(struct reply_tokens *r, const float *logits);
uint32_t reply_tokens_allow(struct reply_tokens *r, uint32_t id, struct sampler *sampler,
                            float *logits);

/* If the params want scores: from the logits before the sampler destroys them; and of the token id that was picked, for the sink,
 * which gets that next. */
void reply_tokens_read_scores(const struct reply_tokens *r, struct token_scores *s,
                              const float *logits);
void reply_tokens_say_scores(const struct reply_tokens *r, struct token_scores *s, uint32_t id,
                             const struct sampler *sampler);

/* Why a reply whose last token came ended: by itself, or because what holds it was led to its end. */
enum generate_end reply_tokens_ended(const struct reply_tokens *r);

/* id is the reply's next token: it is counted, and its text goes to the sink. */
void reply_tokens_take(struct reply_tokens *r, uint32_t id);

/* Whether the reply ends with the token that was taken, *latest in the ids; result->end says why. */
bool reply_tokens_end_here(struct reply_tokens *r, const uint32_t *latest);

/* The reply has ended, by an error too: text that was held back comes out. */
void reply_tokens_end(struct reply_tokens *r);

#endif
