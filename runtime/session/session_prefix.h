/* The tokens with which many sequences of a session begin, usually a system prompt. The states of
 * these tokens are computed once: the states stay when the session is cleared or cut, and a
 * sequence that begins with the tokens continues from their end.
 *
 * The session calls these functions; other code puts a prefix into a session and says which
 * tokens it has. */
#ifndef INGOT_RUNTIME_SESSION_PREFIX_H
#define INGOT_RUNTIME_SESSION_PREFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session;

enum {
    SESSION_PREFIX_TOKENS = 4096, /* most tokens of a prefix that are kept */
    /* least tokens of a prefix if a state must be copied: a pass then has to end with the prefix,
     * which costs time */
    SESSION_PREFIX_LEAST = 16,
};

struct session_prefix {
    uint32_t n;      /* length of the prefix, whose tokens are in the states; 0: none */
    uint32_t wanted; /* tokens to keep as the prefix once they are computed; 0: none */
    uint32_t lost;   /* value of n before a loaded sequence replaced the prefix; 0: none */
    bool held;       /* the states have n tokens that the sequence does not count yet */
    uint32_t ids[SESSION_PREFIX_TOKENS]; /* (n) */
};

/* Keep prefixes from now on: p, which outlives s, is empty at first. */
void session_keep_prefix(struct session *s, struct session_prefix *p);

/* Announce that this and other sequences begin with ids (n). The part with which this
 * sequence really begins becomes the prefix once it is computed. */
void session_want_prefix(struct session *s, const uint32_t *ids, size_t n);

/* Turn all cached tokens into the prefix. */
void session_make_prefix(struct session *s);

/* Put the prefix into the empty sequence, and return true, if ids (n) is the kept prefix. */
bool session_take_prefix(struct session *s, const uint32_t *ids, uint32_t n);

/* Keep no prefix until another is requested, because the states of the current one are about to
 * change. */
void session_forget_prefix(struct session *s);

/* ---- for session.c ---- */

/* Let the states keep the prefix instead of going back to n tokens, and count no token as cached.
 * Return true if they hold it now. They do not if there is none, if it was lost, or if it has at
 * most n tokens and was not held before. */
bool session_prefix_hold(struct session *s, uint32_t n);

/* Call after tokens were put: if the sequence now begins with the prefix, the prefix is cached. */
void session_prefix_adopt(struct session *s);

/* Call before a pass. If the states hold tokens of a prefix with which the sequence does not begin,
 * this cuts the states back to the tokens that both share. */
void session_prefix_settle(struct session *s);

/* Call when all states are about to be computed again: afterwards the prefix is kept again. */
void session_prefix_again(struct session *s);

/* Return how many of n tokens the next pass may have, so that it ends where a state must be copied.
 * Call session_prefix_reached after the pass. */
uint32_t session_prefix_limit(const struct session *s, uint32_t n);
void session_prefix_reached(struct session *s);

/* Call session_prefix_lose before another sequence is loaded; it drops the prefix. Call
 * session_prefix_find_again after the load, because the new sequence may begin with the prefix,
 * too. */
void session_prefix_lose(struct session *s);
void session_prefix_find_again(struct session *s);

#endif
