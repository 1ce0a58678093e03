/* LongRoPE (Phi-3, Phi-4): heads rotate by short factors while the sequence has at most
 * long_context tokens, and by long factors if it has more. The length of the whole sequence decides
 * for all of its keys, as in Transformers: a sequence that grows beyond the limit, or is cut back
 * below it, is computed again.
 *
 * So the logits depend only on the tokens, not on chunks, the session's context or its earlier
 * contents. Source: docs/MODELS.md, LongRoPE. */
#ifndef INGOT_RUNTIME_SESSION_ROPE_H
#define INGOT_RUNTIME_SESSION_ROPE_H

#include <stdbool.h>
#include <stdint.h>

struct session;

/* Return true if a sequence with as many tokens as this one uses the long factors. */
bool session_rope_is_long(const struct session *s);

/* Call before a pass, and before pending tokens are counted: states with the other factors are
 * dropped, and all tokens become pending. Does nothing for other models and for an empty
 * sequence. */
void session_rope_settle(struct session *s);

/* Return how many of n guesses the next pass may have without changing the factors. */
uint32_t session_rope_limit(const struct session *s, uint32_t n);

/* Return a CRC for data saved with keys. Earlier versions chose the factors by the context, so
 * their files count as files of another model. Return 0 if the model has no LongRoPE. */
uint32_t session_rope_crc(const struct session *s);

#endif
