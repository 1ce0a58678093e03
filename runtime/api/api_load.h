/* POST /v1/models/load: another model of the card in place of the current one, {"model":"NAME"}, as
 * in `ingot serve`. The answer comes when it is loaded, or when the one before is back. */
#ifndef INGOT_RUNTIME_API_LOAD_H
#define INGOT_RUNTIME_API_LOAD_H

#include <stdbool.h>

struct api;
struct api_client;
struct chat;

/* Whether this board takes such requests; else it is answered. */
bool api_load_may(struct api_client *k);

/* Answer the current client. */
void api_load_serve(struct api *a);

/* The same for a line of mode=json with the field load, which the chat itself would refuse.
 * False: the line lacks the field, or this board cannot load models this way; the line does not
 * change. */
bool api_load_line(struct api *a, struct chat *c);

#endif
