/* A model that acts: its reply may be a call of an action, which is not shown, but done, and what came of it
 * is the next turn. Only the chat's own files include it. */
#ifndef INGOT_RUNTIME_CHAT_ACT_H
#define INGOT_RUNTIME_CHAT_ACT_H

#include "runtime/features/acting/action_call.h"
#include "runtime/chat/chat.h"

enum { CHAT_CALLS = 4 /* for one question */ };

/* The text of a reply, as long as it may be a call. */
struct chat_call {
    struct actions *actions; /* NULL: no reply is a call */
    void (*write)(void *context, const char *text, size_t bytes);
    void *context;
    enum { CALL_BEGINS, CALL_HELD, CALL_PROSE } state;
    char text[ACTION_CALL_BYTES];
    size_t n;
    enum action_reply reply; /* after chat_call_end */
    struct action_call call;
    char problem[ACTION_TEXT_BYTES];
};

/* write gets what is no call. */
void chat_call_open(struct chat_call *k, struct actions *actions,
                    void (*write)(void *context, const char *text, size_t bytes), void *context);
void chat_call_write(struct chat_call *k, const char *text, size_t bytes);

/* The reply is there. Whether text is held back that is no call, and wants chat_call_release. */
bool chat_call_end(struct chat_call *k);
void chat_call_release(struct chat_call *k);

/* Do what the call says, show it, and make the text of the next turn; its length. */
size_t chat_act(struct chat *c, const struct chat_call *k, char answer[ACTION_ANSWER_BYTES]);

/* The place among the turns of the last one that somebody said; c->turns.n is not 0. */
unsigned chat_question(const struct chat *c);

/* The system prompt with what the actions add to it, in place of *text (*bytes); NULL stays where there are none. */
void chat_tell_actions(struct chat *c, const char **text, size_t *bytes);

#endif
