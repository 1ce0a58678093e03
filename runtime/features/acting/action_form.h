/* The form of a person's sentence: which part requests an action now, and which part asks for
 * information. A question how a light is switched on, a wish, "don't", a quotation, another time
 * and other people's actions ask for nothing. It looks for English words and does not understand
 * them. docs/ACTING.md says how well this works. */
#ifndef INGOT_RUNTIME_ACTING_ACTION_FORM_H
#define INGOT_RUNTIME_ACTING_ACTION_FORM_H

#include "runtime/features/acting/actions.h"

enum { FORM_BYTES = 512 /* longer texts ask for nothing */ };

struct action_form {
    size_t bytes;
    char request[FORM_BYTES]; /* the text with spaces in place of everything that asks for
                               * nothing */
    char plain[FORM_BYTES];   /* the text with spaces in place of quotations */
    bool is_question;         /* it asks for information */
};

/* Analyse text (bytes, of a person). A text longer than FORM_BYTES counts as empty. */
void action_form_read(struct action_form *f, const char *text, size_t bytes);

/* The way that the text asks output `pin` to go now: SAID_ON, SAID_OFF (action_said.h), both if
 * words alone do not decide, or 0. */
unsigned action_form_asks(const struct action_form *f, const struct actions *a, unsigned pin);

/* Whether the text asks about an action that reads, or about the state of an output. */
bool action_form_asks_about(const struct action_form *f, const struct actions *a,
                            const struct action *action);

#endif
