/* Tokens out of the middle of a sequence, without computing anything again: what was attended by those
 * that stay is not undone, so that results differ from those of a sequence that never had them. */
#ifndef INGOT_RUNTIME_SESSION_DROP_H
#define INGOT_RUNTIME_SESSION_DROP_H

#include <stdint.h>

struct session;

/* The obstacle, as the end of an error message; NULL: nothing. */
const char *session_drop_error_message(const struct session *s);

/* Tokens from .. from + n go, both multiples of KV_TILE, from + n <= n_ids; those after them move up
 * (kv_drop.h). Nothing may be in the way. The logits stay. */
void session_drop(struct session *s, uint32_t from, uint32_t n);

#endif
