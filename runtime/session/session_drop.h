/* Remove tokens from the middle of a sequence without computing anything again. The remaining
 * tokens have attended to the removed ones, so results differ from those of a sequence that
 * never had them. */
#ifndef INGOT_RUNTIME_SESSION_DROP_H
#define INGOT_RUNTIME_SESSION_DROP_H

#include <stdint.h>

struct session;

/* Why this is not possible, as the end of a sentence; NULL: it is. */
const char *session_drop_error_message(const struct session *s);

/* Remove tokens from .. from + n, both multiples of KV_TILE, from + n <= n_ids; later ones move
 * up (kv_drop.h). It must be possible. The logits stay. */
void session_drop(struct session *s, uint32_t from, uint32_t n);

#endif
