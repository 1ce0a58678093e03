/* For a saved file that holds what was learnt: how each kind of it is counted, moved and believed. The only place
 * that knows the kinds apart; saved_chat*.c ask here. */
#ifndef INGOT_RUNTIME_SAVED_LEARNT_H
#define INGOT_RUNTIME_SAVED_LEARNT_H

#include "runtime/saved/saved_chat.h"

bool saved_learnt_is(enum saved_kind kind);

/* Its counts and dim to h; or the most that there may be of it. */
void saved_learnt_describe(const struct saved_chat_state *state, struct saved_chat_header *h);
void saved_learnt_describe_most(const struct saved_chat_state *state, struct saved_chat_header *h);

/* Whether the counts of h are possible, and those that are in memory now. */
bool saved_learnt_fits(const struct saved_chat_state *state, const struct saved_chat_header *h);
bool saved_learnt_agrees(const struct saved_chat_state *state, const struct saved_chat_header *h);

/* Bytes of a payload with the counts of h. */
uint64_t saved_learnt_bytes(const struct saved_chat_state *state,
                            const struct saved_chat_header *h);

/* As lessons_move. */
enum err saved_learnt_move(const struct saved_chat_state *state, bool loads,
                           enum err (*move)(void *context, void *memory, size_t bytes),
                           void *context);

/* There is nothing to save. */
bool saved_learnt_is_empty(const struct saved_chat_state *state);
/* The bytes that arrived can be used. */
bool saved_learnt_is_sound(const struct saved_chat_state *state);
void saved_learnt_clear(const struct saved_chat_state *state);

#endif
