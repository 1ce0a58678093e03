/* The states of one layer, of every sequence of the pass: each of these goes over all of them. */
#ifndef INGOT_RUNTIME_PASS_STATES_H
#define INGOT_RUNTIME_PASS_STATES_H

#include "runtime/model/transformer.h"

/* Remember them before the layer, and come back to that if it is computed again. */
void pass_states_mark(const struct transformer *t, uint32_t layer);
void pass_states_put_back(const struct transformer *t, uint32_t layer);

/* They may be read and written; they hold the pass' tokens. Errors of their pages on a card. */
enum err pass_states_enter(const struct transformer *t, uint32_t layer);
enum err pass_states_leave(const struct transformer *t, uint32_t layer);

#endif
