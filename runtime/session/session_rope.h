/* LongRoPE (Phi-3, Phi-4): heads rotate by short factors while the sequence has at most long_context tokens,
 * and by long ones when it has more. The length of the whole sequence decides for every key of it, as in
 * Transformers: a sequence that grows beyond the limit, or is cut back below it, is computed again.
 *
 * So the logits follow from the tokens alone. They do not depend on the chunks, on the context of the session,
 * or on what was in it before. Source: docs/MODELS.md, LongRoPE. */
#ifndef INGOT_RUNTIME_SESSION_ROPE_H
#define INGOT_RUNTIME_SESSION_ROPE_H

#include <stdbool.h>
#include <stdint.h>

struct session;

/* Whether a sequence of so many tokens as this one has takes the long factors. */
bool session_rope_is_long(const struct session *s);

/* Before a pass, and before pending tokens are counted: states with the other factors are dropped, and all
 * tokens are pending. Does nothing in other models and in an empty sequence. */
void session_rope_settle(struct session *s);

/* How many of n guesses the next pass may have: none of them may change the factors. */
uint32_t session_rope_limit(const struct session *s, uint32_t n);

/* For what is saved with its keys: earlier versions chose the factors by the context, so their files are of
 * another model. 0: the model has no LongRoPE. */
uint32_t session_rope_crc(const struct session *s);

#endif
