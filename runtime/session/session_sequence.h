/* Sequences beside the current one: ids, and where a pool of slots is (kv_pool.h) keys and values, as far as
 * there was room for them. Any of them can take its place. */
#ifndef INGOT_RUNTIME_SESSION_SEQUENCE_H
#define INGOT_RUNTIME_SESSION_SEQUENCE_H

#include <stdint.h>

#include "runtime/session/session.h"

struct session_sequence {
    uint32_t *ids; /* (context) */
    uint32_t n_ids, n_cached;
    struct session_hash hash;
    bool is_long;           /* as the session's, of its own keys */
    uint32_t n_exact;       /* likewise */
    struct kv_table *table; /* NULL: it has no keys and values */
};

/* Bytes of ARENA_SCRATCH that n sequences take, as the plan counts them. 0 for none. */
uint64_t session_sequences_bytes(uint32_t context, uint32_t n);

/* Open n empty sequences in the arena of an empty session's model, which planned them. They share slots with the
 * session if its layers keep nothing but keys and values, in memory and of one type. */
void session_sequences_open(struct session *s, struct session_sequence *const sequences[],
                            uint32_t n);

/* The sequence becomes a copy of the current sequence. */
void session_sequence_keep(struct session *s, struct session_sequence *l);

/* The sequence is at work, and what was becomes the sequence. Tokens without keys and values, beyond what both
 * have in common, is pending. */
void session_sequence_swap(struct session *s, struct session_sequence *l);

/* The sequence keeps its tokens, and nothing that was computed of them. */
void session_sequence_weights_changed(struct session *s, struct session_sequence *l);

/* The sequence is empty. */
void session_sequence_drop(struct session *s, struct session_sequence *l);

#endif
