/* Sequences beside the current one: ids, and where a pool of places is (kv_pool.h) keys and values, as far as
 * there was room for them. Any of them can take its place. */
#ifndef INGOT_RUNTIME_SESSION_LINE_H
#define INGOT_RUNTIME_SESSION_LINE_H

#include <stdint.h>

#include "runtime/session/session.h"

struct session_line {
    uint32_t *ids; /* (context) */
    uint32_t n_ids, n_cached;
    struct session_hash hash;
    bool is_long;           /* as the session's, of its own keys */
    struct kv_table *table; /* NULL: it has no keys and values */
};

/* Bytes of ARENA_SCRATCH that n lines take, as the plan counts them. 0 for none. */
uint64_t session_lines_bytes(uint32_t context, uint32_t n);

/* Open n empty lines in the arena of an empty session's model, which planned them. They share places with the
 * session if its layers keep nothing but keys and values, in memory and of one type. */
void session_lines_open(struct session *s, struct session_line *const lines[], uint32_t n);

/* The line becomes a copy of the current sequence. */
void session_line_keep(struct session *s, struct session_line *l);

/* The line is at work, and what was becomes the line. Tokens without keys and values, beyond what both
 * have in common, is pending. */
void session_line_swap(struct session *s, struct session_line *l);

/* The line keeps its tokens, and nothing that was computed of them. */
void session_line_weights_changed(struct session *s, struct session_line *l);

/* The line is empty. */
void session_line_drop(struct session *s, struct session_line *l);

#endif
