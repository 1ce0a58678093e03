/* The tokens that many sequences of a session begin with, above all a system prompt. Their states are
 * computed once: clearing the session, or cutting it short of them, leaves them there, and a sequence
 * that begins with them goes on from their end.
 *
 * The session calls what stands here; others put a prefix into a session and say what it is. */
#ifndef INGOT_RUNTIME_SESSION_PREFIX_H
#define INGOT_RUNTIME_SESSION_PREFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session;

enum {
    SESSION_PREFIX_TOKENS = 4096, /* of a longer one, so many */
    /* If a state must be copied, a pass ends with the prefix: fewer tokens are not worth it. */
    SESSION_PREFIX_LEAST = 16,
};

struct session_prefix {
    uint32_t n;      /* tokens that the states have, n of them at least; 0: none are kept */
    uint32_t wanted; /* that will be kept once the sequence is computed so far; 0: none */
    uint32_t lost;   /* n before the sequence was replaced by a loaded one; 0: none */
    bool held;       /* the states have n tokens, and the sequence counts none of them yet */
    uint32_t ids[SESSION_PREFIX_TOKENS]; /* (n) */
};

/* Keep prefixes from now on: p, which outlives s, has none yet. */
void session_keep_prefix(struct session *s, struct session_prefix *p);

/* The sequence should begin with ids[0 .. n), and others will: what of them it does begin with is the
 * prefix once it is computed. */
void session_want_prefix(struct session *s, const uint32_t *ids, size_t n);

/* All that is cached becomes the prefix. */
void session_make_prefix(struct session *s);

/* The sequence, which is empty, becomes the prefix, if that is ids[0 .. n) and is kept. */
bool session_take_prefix(struct session *s, const uint32_t *ids, uint32_t n);

/* Keep none, until another is wanted: the states of the current one are about to change. */
void session_forget_prefix(struct session *s);

/* ---- for session.c ---- */

/* The states go back to the prefix instead of to n tokens, and nothing is counted as cached. False:
 * there is none so long. */
bool session_prefix_hold(struct session *s, uint32_t n);

/* Tokens were put: where the sequence begins with the prefix now, this is cached. */
void session_prefix_adopt(struct session *s);

/* Before a pass: the states are those of the sequence's first tokens. */
void session_prefix_settle(struct session *s);

/* All states are about to be computed again: the prefix is kept anew when they are. */
void session_prefix_again(struct session *s);

/* Tokens that the next pass of n may have, so that it ends where a state must be copied; and the pass
 * is over. */
uint32_t session_prefix_limit(const struct session *s, uint32_t n);
void session_prefix_reached(struct session *s);

/* Another sequence is loaded in the place of this one: the prefix is not there any more; and when it
 * has come: but it may begin with it, too. */
void session_prefix_lose(struct session *s);
void session_prefix_find_again(struct session *s);

#endif
