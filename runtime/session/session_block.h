/* Copy a part of a sequence's states into another sequence that begins with the same tokens: the
 * keys and values of some tokens, and the states at a mark, if the model has states that cannot be
 * split (those of a recurrence). */
#ifndef INGOT_RUNTIME_SESSION_BLOCK_H
#define INGOT_RUNTIME_SESSION_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/model/layer_state.h"

struct session;

/* Return why a session's states cannot be copied in parts, as the end of a sentence; NULL if they
 * can. */
const char *session_block_error_message(const struct session *s);

/* Return true if a layer has a state that cannot be split, so that keys and values do not
 * suffice. */
bool session_block_has_marks(const struct session *s);

/* Drop guesses and settle the prefix; return the number of computed tokens. */
uint32_t session_block_ready(struct session *s);

/* Move the keys and values of tokens [first, end); both are multiples of KV_TILE. When loading, the
 * moved data replace the states of these tokens, and tokens [0, first) must be there. Errors of
 * io->move. */
enum err session_block_move_keys(struct session *s, uint32_t first, uint32_t end,
                                 const struct layer_state_io *io);

/* Move the states that cannot be split, as they are after n tokens. Errors of io->move. */
enum err session_block_move_marks(struct session *s, uint32_t n, const struct layer_state_io *io);

/* Count the first n tokens, but never all, as cached: they have been moved into the states. */
void session_block_take(struct session *s, uint32_t n);

#endif
