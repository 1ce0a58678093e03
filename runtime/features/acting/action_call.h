/* Reads a reply that is a call, one line of JSON. The call is checked against the table even if a
 * grammar constrained the reply.
 *
 *   {"action":"light","value":"on"}     {"action":"pulse","line":"light","ms":500} */
#ifndef INGOT_RUNTIME_ACTING_ACTION_CALL_H
#define INGOT_RUNTIME_ACTING_ACTION_CALL_H

#include "runtime/features/acting/actions.h"

enum { ACTION_CALL_BYTES = 256 /* the most bytes of a call, with a NUL */ };

enum action_reply {
    ACTION_PROSE,  /* the reply is not a call */
    ACTION_CALLED, /* the reply is a call, which *call describes */
    ACTION_WRONG,  /* the table does not allow the call; error_message says why */
};

/* Parse a reply. `text` (bytes, followed by a NUL) may contain anything, and is overwritten. */
enum action_reply action_call_read(struct actions *a, char *text, size_t bytes,
                                   struct action_call *call, char error_message[ACTION_TEXT_BYTES]);

/* Write the turn that tells the model the outcome, {"result":"..."} or {"error":"..."}; returns
 * its length. */
enum { ACTION_ANSWER_BYTES = 6 * ACTION_TEXT_BYTES + 16 };
size_t action_answer(char out[ACTION_ANSWER_BYTES], bool done, const char *result);

/* Return true if action_answer, not a person, wrote the text of a turn. */
bool action_is_answer(const char *text, size_t bytes);

/* Return the arguments in a form for people: "on", "light, 500 ms", "". */
const char *action_call_text(const struct actions *a, const struct action_call *call,
                             char text[ACTION_TEXT_BYTES]);

/* Return the value of an argument as JSON: "on", "light", 500. */
const char *action_value_json(const struct actions *a, const struct action_argument *g,
                              uint32_t value, char text[ACTION_TEXT_BYTES]);

#endif
