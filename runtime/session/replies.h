/* Replies to several prompts side by side: every pass goes on with each of them (session_group.h), and a reply
 * is what its prompt alone would get. Asking and waiting are the caller's: `ingot batch`, /bench and
 * ingot_generate_together are three of them. */
#ifndef INGOT_RUNTIME_REPLIES_H
#define INGOT_RUNTIME_REPLIES_H

#include "runtime/session/reply_tokens.h"
#include "runtime/session/sampler.h"
#include "runtime/session/session_group.h"

enum {
    /* Tokens after the copy of a state that was made for a prompt: what a template writes there for the reply may be
     * written otherwise once the reply is a part of the conversation. */
    REPLIES_TAIL = 8,
};

/* A sequence and the reply that it is at. */
struct reply_slot {
    struct session *session; /* the caller's */
    bool busy;               /* a reply is under way */
    bool begun;              /* ... whose prompt is computed */
    uint32_t
        mark; /* tokens after which the states are copied, near the prompt's end; 0: they are not */
    struct sampler sampler;
    struct generate_result
        result; /* of the latest reply, as generate() fills it; passes: those since its
                                    * prompt, which others may share; what streams is nobody's own */
    struct reply_tokens tokens;
};

/* Zero it; then the caller sets each slot's session, all of one model, and n. It may not move. */
struct replies {
    struct reply_slot slots[GROUP_MOST];
    uint32_t n;
    struct session_group group;
    const char *error_message; /* after an error: an error message for the user */
};

/* The tokens that are pending in the slot's session, one at least, are a prompt; slot: not busy. params and
 * sink stay until the reply ends; of params the stops are the pass' own, of the sink make_room is not asked:
 * a full context ends the reply. */
void replies_begin(struct replies *r, uint32_t slot, const struct generate_params *params,
                   const struct sampler_params *sampler, const struct generate_sink *sink);

/* One pass for all that are busy, one at least; then one more token for each whose prompt is computed. Those
 * that ended with it are busy no longer. Errors of session_group_pass, after which another pass may go on;
 * ERR_BAD_MODEL: logits that are not numbers. */
enum err replies_pass(struct replies *r, const struct stop *stop);

/* A reply ends here, whatever it wanted: its slot is free. */
void replies_leave(struct replies *r, uint32_t slot);

/* How many are busy. */
uint32_t replies_busy(const struct replies *r);

#endif
