/* Other sequences of the same conversation, kept by name: what was said, and a sequence of the session's
 * (session_sequence.h), which shares keys and values with the current one or computes again what differs. */
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

enum { CHAT_BRANCHES_MOST = OPTIONS_BRANCHES, CHAT_BRANCH_NAME_BYTES = 24 }; /* with its NUL */

/* A sequence that is not at work. */
struct chat_branch {
    char name[CHAT_BRANCH_NAME_BYTES]; /* "": the place is free */
    bool retried;                      /* kept by /retry, which may take its place again */
    bool started;
    uint32_t reply_start;
    struct turns turns;
    struct session_sequence sequence;
};

struct chat_branches {
    char current[CHAT_BRANCH_NAME_BYTES]; /* of the current line */
    uint32_t n, retries;
    struct chat_branch *list[CHAT_BRANCHES_MOST]; /* (n) */
    const char *retried; /* what /retry has kept of the current turn; NULL: nothing */
};

static inline struct chat_branches *branches_of(const struct chat *c)
{
    return c->features->state[FEATURE_branches];
}

extern const struct chat_command branch_commands[];
enum { BRANCH_COMMANDS = 4 };

/* The part of ARENA_SCRATCH that a branch takes beside its ids, for model_setup. */
size_t chat_branch_bytes(void);

/* Room for n <= CHAT_BRANCHES_MOST lines beside the current one, and for the search of that many beams
 * (beams.h; below 2: none), in the arena of the chat's model, which planned chat_kept_sequences(n, beams). After
 * chat_open. False: beams cannot share what this session's layers keep, and there are none. */
bool chat_branches_open(struct chat *c, uint32_t n, uint32_t beams);
uint32_t chat_kept_sequences(uint32_t branches, uint32_t beams);

/* The conversation goes on as `name`; what it is so far is kept under the name it had. ERR_BAD_ARGUMENT:
 * no name of 1 to 23 letters, digits, '-', '_' and '.'; ERR_BUSY: there is one; ERR_NO_SPACE: all places are
 * taken. */
enum err chat_branch(struct chat *c, const char *name);

/* Whether chat_switch or chat_branch would do it: ERR_OK; else the error of chat_branch. */
enum err chat_branch_place(struct chat *c, const char *name);

/* Before the last turn is answered again: its answer is kept as retry-1, retry-2 ..., in a free place, or
 * that of the oldest so kept. NULL: there is neither. */
const char *chat_branch_retried(struct chat *c);

/* Go on with the sequence `name`. *pending: its tokens that the next line computes again. ERR_NOT_FOUND: there
 * is none. */
enum err chat_switch(struct chat *c, const char *name, uint32_t *pending);

/* Forget the sequence `name`. ERR_NOT_FOUND: there is none; ERR_BUSY: it is the current one. */
enum err chat_branch_drop(struct chat *c, const char *name);

#endif
