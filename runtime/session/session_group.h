/* Parallel sequences over one model: a pass reads each weight once, for some tokens of every
 * sequence. Matrices take all tokens at once; attention, recurrent states and caches are separate
 * for each sequence. The results for a token have the same bits as when its sequence runs alone,
 * whatever the other sequences are. */
#ifndef INGOT_RUNTIME_SESSION_GROUP_H
#define INGOT_RUNTIME_SESSION_GROUP_H

#include "runtime/session/session.h"

enum {
    GROUP_MOST = TRANSFORMER_PARTS, /* sequences */
    GROUP_TOKENS = 128,             /* most tokens of a pass */
};

struct session_group {
    struct session *sessions[GROUP_MOST]; /* (n) chosen by the owner, all of one model */
    uint32_t
        ends[GROUP_MOST]; /* a pass that reaches this token of the sequence ends there; 0: off */
    uint32_t n;
    struct transformer_part parts[GROUP_MOST]; /* parts of the current pass */
    struct session *of_part[GROUP_MOST];       /* the sequences to which the parts belong */
    uint32_t n_parts;
    uint32_t tokens[GROUP_TOKENS];
    uint32_t step; /* a pass never crosses a multiple of this; 0: no limit */
    uint64_t n_passes;
    uint64_t n_tokens; /* tokens of all passes */
};

/* Run one pass over pending tokens: at least one token of each sequence that has any; sequences
 * with more share the rest of the chunk. A sequence has logits until the next pass if its last
 * token was in this pass; all others have none. ERR_BAD_ARGUMENT: nothing is pending. Other errors:
 * those of session_run. The sequences are then as before the pass, or have fewer tokens cached. */
enum err session_group_pass(struct session_group *g, const struct stop *stop);

#endif
