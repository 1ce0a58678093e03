/* The form of a person's sentence: which part requests an action now, and which part asks for
 * information. These ask for nothing: a question about how a light is switched on, a wish, "don't",
 * a quotation, another time, other people's actions. The code looks for English words and does not
 * understand them. docs/ACTING.md says how well this works. */
#ifndef INGOT_RUNTIME_ACTING_ACTION_FORM_H
#define INGOT_RUNTIME_ACTING_ACTION_FORM_H

#include "runtime/features/acting/actions.h"

enum { FORM_BYTES = 512 /* longer texts ask for nothing */ };

struct action_form {
    size_t bytes;
    char request[FORM_BYTES]; /* the text with spaces in place of everything that asks for
                               * nothing */
    char plain[FORM_BYTES];   /* the text with spaces in place of quotations */
    bool is_question;         /* the text asks for information */
};

/* Analyse a person's text (bytes). A text longer than FORM_BYTES counts as empty. */
void action_form_read(struct action_form *f, const char *text, size_t bytes);

/* Return the state in which the text asks output `pin` to be now: SAID_ON, SAID_OFF
 * (action_said.h), both if the words do not decide, or 0. */
unsigned action_form_asks(const struct action_form *f, const struct actions *a, unsigned pin);

/* Return true if the text asks about an action that reads, or about the state of an output. */
bool action_form_asks_about(const struct action_form *f, const struct actions *a,
                            const struct action *action);

#endif
