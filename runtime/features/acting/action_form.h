/* The form of a person's sentence: which part requests an action now, and which part asks for
 * information. A question about how a light is switched on requests nothing; neither does a wish,
 * "don't", a quotation, or a sentence about another time or other people. The code looks for
 * English words and does not understand them. docs/ACTING.md says how well this works. */
#ifndef INGOT_RUNTIME_ACTING_ACTION_FORM_H
#define INGOT_RUNTIME_ACTING_ACTION_FORM_H

#include "runtime/features/acting/actions.h"

enum { FORM_BYTES = 512 /* longer texts request nothing */ };

struct action_form {
    size_t bytes;
    char request[FORM_BYTES]; /* the text with spaces in place of parts that request
                               * nothing */
    char plain[FORM_BYTES];   /* the text with spaces in place of quotations */
    bool is_question;         /* the text asks for information */
};

/* Analyse a person's text (bytes). A text longer than FORM_BYTES counts as empty. */
void action_form_read(struct action_form *f, const char *text, size_t bytes);

/* Return the state that the text requests for output `pin`: SAID_ON or SAID_OFF (action_said.h),
 * both if the words do not decide, or 0 for none. */
unsigned action_form_asks(const struct action_form *f, const struct actions *a, unsigned pin);

/* Return true if the text is a question about what `action` reads, or about the state of its
 * output. */
bool action_form_asks_about(const struct action_form *f, const struct actions *a,
                            const struct action *action);

#endif
