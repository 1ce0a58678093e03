/* Shared functions of mode=json; no other folder includes it. */
#ifndef INGOT_RUNTIME_CHAT_JSON_PRIVATE_H
#define INGOT_RUNTIME_CHAT_JSON_PRIVATE_H

#include "runtime/chat/chat.h"
#include "runtime/wire/json_request.h"

/* field: the field to blame, or NULL; column: a byte counted from 1, 0: none. */
void chat_json_error(struct chat *c, const char *name, const char *field, size_t column,
                     const char *text);

/* Add to an event: the model's own defaults of a sampler, `'defaults':{'temp':0.2,...}`; nothing if it has none. */
struct ingot_sampling;
void chat_json_defaults(struct console *c, const struct ingot_sampling *s);

/* Whether the request can be run, as far as it can be checked before anything is changed;
 * otherwise the error is sent. Reads its messages, too. */
bool chat_json_check(struct chat *c, const struct json_request *r);

/* Requests for something else than a reply: tokens of a text, an embedding, the models, figures,
 * the plan, past events. False: it asks for none of these. *reason: for its `done`. */
bool chat_json_ask(struct chat *c, const struct json_request *r, const char **reason);

#endif
