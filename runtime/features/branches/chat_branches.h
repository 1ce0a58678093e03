/* Branches are other sequences of the same conversation, kept by name. Each has its text and a
 * sequence of the session (session_sequence.h), which shares keys and values with the current
 * sequence or computes the difference again. */
#ifndef INGOT_RUNTIME_CHAT_BRANCHES_H
#define INGOT_RUNTIME_CHAT_BRANCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/saved/turns.h"
#include "runtime/chat/chat.h"
#include "runtime/features/feature.h"
#include "runtime/options/options.h"
#include "runtime/session/session_sequence.h"

enum {
    CHAT_BRANCHES_MOST = OPTIONS_BRANCHES,
    CHAT_BRANCH_NAME_BYTES = 24
}; /* bytes of a name with
                                                                              * its NUL */

/* A sequence that is not the current sequence. */
struct chat_branch {
    char name[CHAT_BRANCH_NAME_BYTES]; /* "" if the slot is free */
    bool retried;                      /* kept by /retry, which may reuse the slot */
    bool started;
    uint32_t reply_start;
    struct turns turns;
    struct session_sequence sequence;
};

struct chat_branches {
    char current[CHAT_BRANCH_NAME_BYTES]; /* name of the current sequence */
    uint32_t n, retries;
    struct chat_branch *list[CHAT_BRANCHES_MOST]; /* (n) */
    const char *retried; /* /retry kept an answer of the current turn under this name; NULL if it
                          * kept none */
};

static inline struct chat_branches *branches_of(const struct chat *c)
{
    return c->features->state[FEATURE_branches];
}

extern const struct chat_command branch_commands[];
enum { BRANCH_COMMANDS = 4 };

/* For model_setup, the bytes of ARENA_SCRATCH that a branch takes besides its ids. */
size_t chat_branch_bytes(void);

/* Make room for n <= CHAT_BRANCHES_MOST sequences besides the current one, and for a search with
 * `beams` beams (beams.h) if this number is 2 or more. The room is in the arena of the chat's
 * model; the model's plan must have counted chat_kept_sequences(n, beams). Call after chat_open.
 * Returns false if there can be no beams, because beams cannot share the states of this session's
 * layers. */
bool chat_branches_open(struct chat *c, uint32_t n, uint32_t beams);
uint32_t chat_kept_sequences(uint32_t branches, uint32_t beams);

/* Continue the conversation as `name`; the conversation so far is kept under its old name.
 * ERR_BAD_ARGUMENT: `name` is not 1 to 23 letters, digits, '-', '_' and '.'. ERR_BUSY: the name is
 * taken. ERR_NO_SPACE: all slots are taken. */
enum err chat_branch(struct chat *c, const char *name);

/* Return ERR_OK if either chat_switch or chat_branch would succeed; otherwise return the error of
 * chat_branch. */
enum err chat_branch_place(struct chat *c, const char *name);

/* Keep the last turn's answer, before another replaces it, as retry-1, retry-2 and so on. It takes
 * a free slot or the slot of the oldest such answer. Returns the name, or NULL if there is no
 * slot. */
const char *chat_branch_retried(struct chat *c);

/* Continue with the sequence `name`. *pending is the number of its tokens that the next turn
 * computes again. ERR_NOT_FOUND: no sequence has this name. */
enum err chat_switch(struct chat *c, const char *name, uint32_t *pending);

/* Drop the sequence `name`. ERR_NOT_FOUND: no sequence has this name. ERR_BUSY: `name` is the
 * current sequence. */
enum err chat_branch_drop(struct chat *c, const char *name);

#endif
