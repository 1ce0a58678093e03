/* Sequences over one model side by side: a pass reads each weight once, for some tokens of every sequence.
 * Matrices take all tokens together; attention, the states of recurrent layers and what is kept go by
 * sequence. A token has the bits that it has where its sequence is alone, whatever the others are. */
#ifndef INGOT_RUNTIME_SESSION_GROUP_H
#define INGOT_RUNTIME_SESSION_GROUP_H

#include "runtime/session/session.h"

enum {
    GROUP_MOST = TRANSFORMER_PARTS, /* sequences */
    GROUP_TOKENS = 128,             /* of a pass at most */
};

struct session_group {
    struct session *sessions[GROUP_MOST]; /* (n) of one model; the owner fills and empties them */
    uint32_t ends
        [GROUP_MOST]; /* tokens of a sequence after which a pass ends, if it comes by; 0: none */
    uint32_t n;
    struct transformer_part parts[GROUP_MOST]; /* of the current pass, ... */
    struct session *of_part[GROUP_MOST];       /* ... and whose they are */
    uint32_t n_parts;
    uint32_t tokens[GROUP_TOKENS];
    uint32_t step; /* a pass of a sequence ends at a multiple of it at the latest; 0: anywhere */
    uint64_t n_passes;
    uint64_t n_tokens; /* of all passes */
};

/* One pass over tokens that are pending: at least one of each sequence that has some, and the others of
 * the chunk go to those that have more. Sequences without pending tokens afterwards, whose last one was in
 * this pass, have logits until the next pass; all others have none. ERR_BAD_ARGUMENT: nothing is pending.
 * Other errors as session_run; then the sequences are as before the pass, or have fewer tokens cached. */
enum err session_group_pass(struct session_group *g, const struct stop *stop);

#endif
