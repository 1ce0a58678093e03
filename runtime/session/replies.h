/* Replies to several prompts in parallel: every pass advances each of them (session_group.h), and a
 * reply is the same as for its prompt alone. Accepting requests, and waiting for them, is left to
 * the callers: `ingot batch`, `ingot serve`, a board's HTTP server (runtime/api), /bench and
 * ingot_generate_parallel. */
#ifndef INGOT_RUNTIME_REPLIES_H
#define INGOT_RUNTIME_REPLIES_H

#include "runtime/session/reply_tokens.h"
#include "runtime/session/sampler.h"
#include "runtime/session/session_group.h"

enum {
    /* States are copied this many tokens before a prompt's end: the template may write the text
     * around a reply differently when the reply is part of the conversation. */
    REPLIES_TAIL = 8,
};

/* A sequence and its current reply. */
struct reply_slot {
    struct session *session; /* the caller's */
    bool busy;               /* a reply is in progress */
    bool waits;              /* the owner keeps the reply out of passes for now */
    bool begun;              /* the prompt of the reply is computed */
    uint32_t mark; /* states are copied after this many tokens, near the prompt's end; 0: no copy */
    struct sampler sampler;
    struct generate_result
        result; /* result of the latest reply, as from generate(). `passes` counts the passes after
                 * the prompt, even if other replies share them; streamed bytes are not counted per
                 * reply */
    struct reply_tokens tokens;
};

/* The caller zeroes this struct, then sets n and each slot's session, all of one model. The struct
 * must not move. */
struct replies {
    struct reply_slot slots[GROUP_MOST];
    uint32_t n;
    struct session_group group;
    const char *error_message; /* after an error: the message for the user */
};

/* Begin a reply in a slot that is not busy. The pending tokens of the slot's session, at least one,
 * are the prompt. params and sink must stay until the reply ends; the stops in params are ignored,
 * because replies_pass has its own. The sink's make_room is not called: a full context ends the
 * reply. */
void replies_begin(struct replies *r, uint32_t slot, const struct generate_params *params,
                   const struct sampler_params *sampler, const struct generate_sink *sink);

/* Run one pass for all busy slots that do not wait (at least one), then take one more token for
 * each of them whose prompt is computed. Slots whose replies have ended are no longer busy. Errors
 * of session_group_pass (the next pass may then continue); ERR_BAD_MODEL: logits that are not
 * numbers. */
enum err replies_pass(struct replies *r, const struct stop *stop);

/* End a reply now; its slot becomes free. */
void replies_leave(struct replies *r, uint32_t slot);

/* Return how many slots are busy. */
uint32_t replies_busy(const struct replies *r);

#endif
