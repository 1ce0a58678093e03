/* Replies to several prompts in parallel: every pass advances each of them (session_group.h),
 * and a reply is the same as for its prompt alone. The caller accepts requests and waits: `ingot
 * batch`, /bench and ingot_generate_parallel are three callers. */
#ifndef INGOT_RUNTIME_REPLIES_H
#define INGOT_RUNTIME_REPLIES_H

#include "runtime/session/reply_tokens.h"
#include "runtime/session/sampler.h"
#include "runtime/session/session_group.h"

enum {
    /* Tokens after the copy of a state that was made for a prompt: what a template writes there
     * for the reply may be written differently once the reply is part of the conversation. */
    REPLIES_TAIL = 8,
};

/* A sequence and its current reply. */
struct reply_slot {
    struct session *session; /* the caller's */
    bool busy;               /* a reply is in progress */
    bool begun;              /* ... whose prompt is computed */
    uint32_t mark; /* tokens after which the states are copied, near the prompt's end; 0: no copy */
    struct sampler sampler;
    struct generate_result
        result; /* the latest reply's, filled as by generate(); passes: those since its prompt,
                 * which others may share; streamed bytes belong to no single reply */
    struct reply_tokens tokens;
};

/* Zero it; then the caller sets each slot's session, all of one model, and n. It must not move. */
struct replies {
    struct reply_slot slots[GROUP_MOST];
    uint32_t n;
    struct session_group group;
    const char *error_message; /* after an error: the message for the user */
};

/* The pending tokens in the slot's session, at least one, are a prompt; slot: not busy. params
 * and sink must stay until the reply ends; the stops in params belong to the pass, and the
 * sink's make_room is not called: a full context ends the reply. */
void replies_begin(struct replies *r, uint32_t slot, const struct generate_params *params,
                   const struct sampler_params *sampler, const struct generate_sink *sink);

/* Run one pass for all busy slots, at least one; then one more token for each whose prompt is
 * computed. Slots whose replies ended are no longer busy. Errors of session_group_pass, after
 * which another pass may continue; ERR_BAD_MODEL: logits that are not numbers. */
enum err replies_pass(struct replies *r, const struct stop *stop);

/* End a reply here: its slot is free. */
void replies_leave(struct replies *r, uint32_t slot);

/* How many are busy. */
uint32_t replies_busy(const struct replies *r);

#endif
