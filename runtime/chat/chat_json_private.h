/* Shared functions of mode=json; nobody else includes it. */
#ifndef INGOT_RUNTIME_CHAT_JSON_PRIVATE_H
#define INGOT_RUNTIME_CHAT_JSON_PRIVATE_H

#include "runtime/chat/chat.h"
#include "runtime/wire/json_request.h"

/* field: whose fault it is, NULL: of none; column: bytes from 1, 0: none. */
void chat_json_error(struct chat *c, const char *name, const char *field, size_t column,
                     const char *text);

/* Whether the request can be obeyed, as far as that shows before anything is changed; that is said otherwise. Its
 * messages are read then. */
bool chat_json_check(struct chat *c, const struct json_request *r);

/* Requests for other things than a reply: tokens of a text, an embedding, the models, figures, the plan, events once
 * more. False: it asks for none of these. *reason: of its `done`. */
bool chat_json_ask(struct chat *c, const struct json_request *r, const char **reason);

#endif
