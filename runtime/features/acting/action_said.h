/* People's words about a GPIO line: a model's call drives a line only if a person asked for this.
 * This code looks for words and does not understand them; docs/ACTING.md lists what the code
 * misses. */
#ifndef INGOT_RUNTIME_ACTING_ACTION_SAID_H
#define INGOT_RUNTIME_ACTING_ACTION_SAID_H

#include "runtime/features/acting/actions.h"

enum { SAID_ON = 1 << 0, SAID_OFF = 1 << 1 };

/* The words of people in the turns before a call. All zeros before the first turn. */
struct action_heard {
    bool named;
    unsigned values; /* what the question requests: SAID_ON, SAID_OFF */
    bool has_number, has_ms;
};

/* Add one turn (bytes) of a person from the conversation that led to this call. Values and
 * numbers count only if is_question. */
void action_hear(const struct actions *a, const struct action_call *call, const char *text,
                 size_t bytes, bool is_question, struct action_heard *h);

/* Return true if people's words allow the call. Otherwise `why` gives the reason, without a full
 * stop. */
bool action_is_asked(const struct actions *a, const struct action_call *call,
                     const struct action_heard *h, char why[ACTION_TEXT_BYTES]);

/* Add the words of `text` (bytes), which are separated by bars. They mean `of`, an output's index
 * or a value of this enum. Returns NULL, or an error message without a full stop; some words may
 * then have been added. */
enum { WORDS_ON = PINS_MOST, WORDS_OFF, WORDS_NOT };
const char *action_words_add(struct actions *a, unsigned of, const char *text, size_t bytes);

#endif
