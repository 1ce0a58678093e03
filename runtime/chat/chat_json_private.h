/* Shared functions of mode=json; no other folder includes this header. */
#ifndef INGOT_RUNTIME_CHAT_JSON_PRIVATE_H
#define INGOT_RUNTIME_CHAT_JSON_PRIVATE_H

#include "runtime/chat/chat.h"
#include "runtime/wire/json_request.h"

/* Send an error. `field` is the field that is wrong, or NULL; `column` is the number of the wrong
 * byte, counted from 1, or 0 if there is none. */
void chat_json_error(struct chat *c, const char *name, const char *field, size_t column,
                     const char *text);

/* If the model has defaults of its own for the sampler, add them to an event, in the form
 * `'defaults':{'temp':0.2,...}`. */
struct ingot_sampling;
void chat_json_defaults(struct console *c, const struct ingot_sampling *s);

/* Return true if the request can be run, as far as can be known before anything is changed;
 * otherwise send the error. Also reads the messages of the request. */
bool chat_json_check(struct chat *c, const struct json_request *r);

/* Apply the settings of features, which may fail, for example because a file is missing. If one
 * fails, send the error, undo those before it, and return false. */
bool chat_json_set_fields(struct chat *c, const struct json_request *r);
/* Call the features whose fields take effect after everything else is set. */
void chat_json_enter_fields(struct chat *c, const struct json_request *r);

/* Answer a request for something other than a reply: tokens of a text, an embedding, the models,
 * figures, the plan, past events. Returns false if the request is none of these. *reason is for the
 * event `done`. */
bool chat_json_ask(struct chat *c, const struct json_request *r, const char **reason);

#endif
