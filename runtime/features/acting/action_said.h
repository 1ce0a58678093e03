/* People's words about a line, in words of theirs: a model's call drives a line only where somebody asked for
 * it. Words are looked for, and nothing is understood. docs/ACTING.md says what that does not catch. */
#ifndef INGOT_RUNTIME_ACTING_ACTION_SAID_H
#define INGOT_RUNTIME_ACTING_ACTION_SAID_H

#include "runtime/features/acting/actions.h"

enum { SAID_ON = 1 << 0, SAID_OFF = 1 << 1 };

/* Zeroed: nothing yet. */
struct action_heard {
    bool named;
    unsigned values; /* SAID_ON, SAID_OFF: what a question asks for */
    bool has_number, has_ms;
};

/* Hear one more turn (bytes) of a person in a conversation that has led to this call. The values and
 * numbers of a question count alone. */
void action_hear(const struct actions *a, const struct action_call *call, const char *text,
                 size_t bytes, bool is_question, struct action_heard *h);

/* Whether the call may be done after what was heard; else `why` says why not, without a full stop. */
bool action_is_asked(const struct actions *a, const struct action_call *call,
                     const struct action_heard *h, char why[ACTION_TEXT_BYTES]);

/* Add words with bars between them (bytes) to those of `of`: a place of an output, or one of these. NULL: they
 * are there; else a sentence without a full stop, and some of them may be. */
enum { WORDS_ON = PINS_MOST, WORDS_OFF, WORDS_NOT };
const char *action_words_add(struct actions *a, unsigned of, const char *text, size_t bytes);

#endif
