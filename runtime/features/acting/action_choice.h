/* A decision before the reply, for a model that was not trained to act. After a few examples about
 * the table's outputs, Ingot compares the model's log likelihoods of "on", "off" and "nothing".
 * From each it subtracts the log likelihood of the same word after a text that asks for nothing. */
#ifndef INGOT_RUNTIME_ACTING_ACTION_CHOICE_H
#define INGOT_RUNTIME_ACTING_ACTION_CHOICE_H

#include "runtime/chat/chat.h"
#include "runtime/features/acting/actions.h"

enum choice { CHOICE_ON, CHOICE_OFF, CHOICE_NONE, CHOICES };
enum { CHOICE_IDS = 1024 /* the most tokens of a turn with a question */ };

struct action_choice {
    uint32_t begin;    /* number of tokens before the examples; valid during a decision */
    uint32_t examples; /* number of tokens to the examples' end; valid during a decision */
    bool has_prior[PINS_MOST];
    double prior[PINS_MOST][CHOICES];
    double score[CHOICES]; /* of the latest decision */
    uint32_t ids[CHOICES][CHOICE_IDS];
    size_t n_ids[CHOICES];
    char reply[96];
};

/* Decide about output `pin` for a person's text (bytes); `may` (SAID_ON, SAID_OFF) limits what
 * the text can ask for. The session's sequence and hash do not change. Sets *choice. Errors: those
 * of session_run, and ERR_TOO_LONG if the context has no room. */
enum err action_choose(struct action_choice *k, struct chat *c, const struct actions *a,
                       unsigned pin, unsigned may, const char *text, size_t bytes,
                       const struct stop *stop, enum choice *choice);

/* Set *is_trained to true if the model answers "Turn on the light." with a call, as only a model
 * that was trained to act does; otherwise to false. The sequence and the hash do not change.
 * Errors: those of action_choose. */
enum err action_is_trained(struct action_choice *k, struct chat *c, const struct stop *stop,
                           bool *is_trained);

#endif
