/* Each function handles the states of one layer for all sequences of the
 * pass. */
#ifndef INGOT_RUNTIME_PASS_STATES_H
#define INGOT_RUNTIME_PASS_STATES_H

#include "runtime/model/transformer.h"

/* Remember the states before the layer, and restore them if the layer is computed again. */
void pass_states_mark(const struct transformer *t, uint32_t layer);
void pass_states_put_back(const struct transformer *t, uint32_t layer);

/* _enter waits until the states may be read and written. _leave later reports that the states hold
 * the pass's tokens. Errors: those of the card that holds pages of the states. */
enum err pass_states_enter(const struct transformer *t, uint32_t layer);
enum err pass_states_leave(const struct transformer *t, uint32_t layer);

#endif
