/* Common parts of a pass over one sequence and over several, for the files session*.c. */
#ifndef INGOT_RUNTIME_SESSION_PRIVATE_H
#define INGOT_RUNTIME_SESSION_PRIVATE_H

#include "runtime/session/session.h"

/* Return how many of n pending tokens the next pass may have. */
uint32_t session_pass_limit(const struct session *s, uint32_t n);

/* Begin a pass over the n tokens after the cached ones. */
void session_pass_begin(struct session *s, uint32_t n);

/* Run the n tokens after the cached ones through the layers; the results of the last n_read of
 * them are needed. The caller counts these tokens as cached. */
enum err session_run_layers(struct session *s, uint32_t n, uint32_t n_read, bool want_head,
                            const struct stop *stop);

/* Cut the results of the failed pass from the states; some states may lose more tokens. Returns
 * the error. */
enum err session_pass_failed(struct session *s, enum err error);

/* Return the adapters for the session's tokens, or NULL. */
static inline struct lora *session_lora(const struct session *s)
{
    return s->lora != NULL ? s->lora : s->model->transformer.lora;
}

/* Return the n tokens after the cached ones as a part of a pass, in which the first has number
 * `first`. */
static inline struct transformer_part session_part(const struct session *s, uint32_t first,
                                                   uint32_t n)
{
    return (struct transformer_part){ first,      n, s->n_cached, s->states, session_lora(s),
                                      s->is_long, 0 };
}

/* Add s->logits to the hash. */
void session_hash_logits(struct session *s);

#endif
