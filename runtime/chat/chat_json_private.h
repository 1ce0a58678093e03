/* Shared functions of mode=json; no other folder includes it. */
#ifndef INGOT_RUNTIME_CHAT_JSON_PRIVATE_H
#define INGOT_RUNTIME_CHAT_JSON_PRIVATE_H

#include "runtime/chat/chat.h"
#include "runtime/wire/json_request.h"

/* Send an error. field: the field that is wrong, or NULL; column: number of the byte, from 1; 0:
 * none. */
void chat_json_error(struct chat *c, const char *name, const char *field, size_t column,
                     const char *text);

/* Add the model's own defaults of the sampler to an event, `'defaults':{'temp':0.2,...}`; nothing
 * if it has none. */
struct ingot_sampling;
void chat_json_defaults(struct console *c, const struct ingot_sampling *s);

/* Return true if the request can be run, as far as it can be checked before anything is changed;
 * otherwise the error is sent. Reads its messages, too. */
bool chat_json_check(struct chat *c, const struct json_request *r);

/* Answer a request for something other than a reply: tokens of a text, an embedding, the models,
 * figures, the plan, past events. False: the request is not one of these. *reason: for the event
 * `done`. */
bool chat_json_ask(struct chat *c, const struct json_request *r, const char **reason);

#endif
