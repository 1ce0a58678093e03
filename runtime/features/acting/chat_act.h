/* A model that acts: its reply may be a call of an action, which is not shown, but done, and what came of it
 * is the next turn. Only the chat's own files include it. */
#ifndef INGOT_RUNTIME_CHAT_ACT_H
#define INGOT_RUNTIME_CHAT_ACT_H

#include "runtime/features/acting/action_call.h"
#include "runtime/chat/chat.h"
#include "runtime/features/feature.h"

enum { CHAT_CALLS = 4 /* for one question */ };

/* The text of a reply, as long as it may be a call. */
struct chat_call {
    struct actions *actions;   /* NULL: no reply is a call */
    struct feature_text next;  /* gets what is not a call */
    struct feature_turn *turn; /* at work */
    enum { CALL_BEGINS, CALL_HELD, CALL_PROSE } state;
    char text[ACTION_CALL_BYTES];
    size_t n;
    enum action_reply reply; /* after chat_call_end */
    struct action_call call;
    char problem[ACTION_TEXT_BYTES];
};

struct acting_state {
    struct actions actions;  /* of pins=, sensors= and actions= */
    struct actions *at_work; /* what the model may do; NULL: nothing, or it has no template */
    char told[OPTIONS_SYSTEM_BYTES + 2 + ACTIONS_PROMPT_BYTES]; /* the system prompt with them */
    struct chat_call call;
};

static inline struct acting_state *acting_of(const struct chat *c)
{
    return c->features->state[FEATURE_acting];
}

/* Replies are one call of an action or prose, where there are actions; else they are free. */
void app_hold_to_actions(struct app *a);

/* The options are read: what pins=, sensors= and actions= let the model do. And the model is told of it. */
void app_open_actions(void *state, struct app *a);
void app_tell_actions(void *state, struct app *a);

/* Do what the call says, show it, and make the text of the next turn; its length. */
size_t chat_act(struct chat *c, const struct chat_call *k, char answer[ACTION_ANSWER_BYTES]);

extern const struct chat_command actions_command;

#endif
