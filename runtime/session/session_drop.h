/* Remove tokens from the middle of a sequence without computing anything again. The remaining
 * tokens have attended to the removed tokens, so results differ from those of a sequence that never
 * had the removed tokens. */
#ifndef INGOT_RUNTIME_SESSION_DROP_H
#define INGOT_RUNTIME_SESSION_DROP_H

#include <stdint.h>

struct session;

/* Return why tokens cannot be removed, as the end of a sentence; NULL if they can be. */
const char *session_drop_error_message(const struct session *s);

/* Remove tokens [from, from + n); both borders are multiples of KV_TILE, from + n <= n_ids. Later
 * tokens move into the gap (kv_drop.h). session_drop_error_message must be NULL. The logits
 * stay. */
void session_drop(struct session *s, uint32_t from, uint32_t n);

#endif
