/* A model that acts: its reply may be a call of an action. The text of the call is not shown. The
 * call is run, and its outcome becomes the next turn. Only features include this header. */
#ifndef INGOT_RUNTIME_CHAT_ACT_H
#define INGOT_RUNTIME_CHAT_ACT_H

#include "runtime/features/acting/action_call.h"
#include "runtime/features/acting/action_choice.h"
#include "runtime/features/acting/action_form.h"
#include "runtime/chat/chat.h"
#include "runtime/features/feature.h"

enum { CHAT_CALLS = 4 /* calls that one question may cause */ };

/* The beginning of a reply, kept while it may be a call. */
struct chat_call {
    struct actions *actions;   /* NULL if no reply can be a call */
    struct feature_text next;  /* gets text that is not a call */
    struct feature_turn *turn; /* the current turn */
    enum { CALL_BEGINS, CALL_HELD, CALL_PROSE } state;
    char text[ACTION_CALL_BYTES];
    size_t n;
    enum action_reply reply; /* valid once the reply has ended */
    struct action_call call;
    char error_message[ACTION_TEXT_BYTES];
};

/* How a model acts. */
enum acting_way {
    ACTING_UNKNOWN,   /* not measured yet; treated as ACTING_BY_CALLS */
    ACTING_BY_CALLS,  /* the model was trained to act, so its reply may be a call */
    ACTING_BY_CHOICE, /* the model was not trained to act, so Ingot decides before the reply */
};

struct acting_state {
    struct actions actions;  /* from pins=, sensors= and actions= */
    struct actions *at_work; /* the model's permitted actions; NULL without actions or a template */
    char told[OPTIONS_SYSTEM_BYTES + 2 + ACTIONS_PROMPT_BYTES]; /* the system prompt with the
                                                                 * actions */
    struct chat_call call;
    enum acting_way way;
    struct action_choice choice;
    struct action_form form; /* of the latest question */
    char note[512];          /* (note_bytes) what was read and done for this question */
    size_t note_bytes;
    char asked[560]; /* what the model reads in place of the question, if there is a note */
};

static inline struct acting_state *acting_of(const struct chat *c)
{
    return c->features->state[FEATURE_acting];
}

/* If there are actions, constrain replies to one call of an action or
 * prose. */
void app_hold_to_actions(struct app *a);

/* Open what pins=, sensors= and actions= allow, after the options were read. The second function
 * adds the actions to the model's system prompt. */
void app_open_actions(void *state, struct app *a);
void app_tell_actions(void *state, struct app *a);

/* Run and show the call, and write the text of the next turn. Returns the text's length. */
size_t chat_act(struct chat *c, const struct chat_call *k, char answer[ACTION_ANSWER_BYTES]);

/* Show the result of an action, the reason why it was not done, or a value that was read, as a dim
 * line or an event. */
void chat_show_act(struct chat *c, const struct chat_call *k, bool done, const char *result);
void chat_show_read(struct chat *c, const char *result);

/* If the model was not trained to act, do what the turn asks for, and tell the model. This function
 * is the hook `told` of struct feature. */
const char *chat_choose_told(void *state, struct feature_turn *t, size_t *bytes);

/* Return true if the current constraint applies to the reply to this turn. A user's own grammar
 * applies to the reply that decides, but not to the sentence about the result. The table's grammar
 * applies to replies of models that act by calls. */
bool chat_holds_calls(const struct chat *c, const struct feature_turn *t);

/* Return true if the question asked for a reading, but the model replied without one. */
bool chat_read_nothing(struct acting_state *s, const struct feature_turn *t);

extern const struct chat_command actions_command;

#endif
