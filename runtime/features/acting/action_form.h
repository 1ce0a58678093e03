/* The form of what a person says: which of it asks for something to be done now, and what it asks to be told. A question how a
 * light is switched on, a wish, "don't", a quotation, another time and other people's doings ask for nothing. Words are looked
 * for, in English, and nothing is understood. docs/ACTING.md says how well. */
#ifndef INGOT_RUNTIME_ACTING_ACTION_FORM_H
#define INGOT_RUNTIME_ACTING_ACTION_FORM_H

#include "runtime/features/acting/actions.h"

enum { FORM_BYTES = 512 /* longer texts ask for nothing */ };

struct action_form {
    size_t bytes;
    char request[FORM_BYTES]; /* the text with blanks in the place of all that asks for nothing */
    char plain[FORM_BYTES];   /* the text with blanks in the place of quotations */
    bool is_question;         /* it asks to be told something */
};

/* text (bytes, of a person). Longer than FORM_BYTES: of an empty text. */
void action_form_read(struct action_form *f, const char *text, size_t bytes);

/* Which way the text asks output `pin` to go now: SAID_ON, SAID_OFF (action_said.h), both, where words alone cannot tell, or 0. */
unsigned action_form_asks(const struct action_form *f, const struct actions *a, unsigned pin);

/* Whether the text asks about an action that reads, or about the state of an output. */
bool action_form_asks_about(const struct action_form *f, const struct actions *a,
                            const struct action *action);

#endif
