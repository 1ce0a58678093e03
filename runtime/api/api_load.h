/* POST /v1/models/load with {"model":"NAME"} replaces the current model with another model on the
 * card, as in `ingot serve`. The answer comes once the new or, after a failure, the old model is
 * loaded. */
#ifndef INGOT_RUNTIME_API_LOAD_H
#define INGOT_RUNTIME_API_LOAD_H

#include <stdbool.h>

struct api;
struct api_client;
struct chat;

/* Return true if this board takes requests to load a model; otherwise answer with an error. */
bool api_load_may(struct api_client *k);

/* Load the model that the current client names, and answer the client. */
void api_load_serve(struct api *a);

/* Load the model that the field `load` of a line of mode=json names; the chat itself would
 * refuse the field. If the line lacks the field, or this board cannot load models this way, return
 * false and leave the line unchanged. */
bool api_load_line(struct api *a, struct chat *c);

#endif
