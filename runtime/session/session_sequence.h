/* Sequences other than the current one: their ids, and, with a pool of slots (kv_pool.h), the keys
 * and values for which there was room. Any of these sequences can become the current one. */
#ifndef INGOT_RUNTIME_SESSION_SEQUENCE_H
#define INGOT_RUNTIME_SESSION_SEQUENCE_H

#include <stdint.h>

#include "runtime/session/session.h"

struct session_sequence {
    uint32_t *ids; /* (context) */
    uint32_t n_ids, n_cached;
    struct session_hash hash;
    bool is_long;           /* session.is_long, when this sequence is current */
    uint32_t n_exact;       /* likewise */
    struct kv_table *table; /* NULL: the sequence has no keys and values */
};

/* Bytes of ARENA_SCRATCH that n sequences need, as the plan counts them. 0 if n is 0. */
uint64_t session_sequences_bytes(uint32_t context, uint32_t n);

/* Open n empty sequences in the arena of an empty session's model, which planned them. The
 * sequences share slots with the session if its layers keep only keys and values, in memory and of
 * one type. */
void session_sequences_open(struct session *s, struct session_sequence *const sequences[],
                            uint32_t n);

/* Make the sequence a copy of the current one. */
void session_sequence_keep(struct session *s, struct session_sequence *l);

/* Swap the sequence and the current one. Tokens without keys and values, after the part that
 * both share, become pending. */
void session_sequence_swap(struct session *s, struct session_sequence *l);

/* Keep the sequence's tokens, and drop everything that was computed for them. */
void session_sequence_weights_changed(struct session *s, struct session_sequence *l);

/* Make the sequence empty. */
void session_sequence_drop(struct session *s, struct session_sequence *l);

#endif
