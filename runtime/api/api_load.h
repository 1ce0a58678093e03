/* POST /v1/models/load: another model of the card in place of the one at work, {"model":"NAME"}, as `ingot serve` has it. The answer comes
 * when it is loaded, or when the one before is back. */
#ifndef INGOT_RUNTIME_API_LOAD_H
#define INGOT_RUNTIME_API_LOAD_H

#include <stdbool.h>

struct api;
struct api_client;
struct chat;

/* Whether this board takes such requests; else it is answered. */
bool api_load_may(struct api_client *k);

/* Answer the client at work. */
void api_load_serve(struct api *a);

/* The same for a line of mode=json that has the field load, which the chat alone refuses to guests. False: it has not, or this board loads
 * nothing so; the line is as it was. */
bool api_load_line(struct api *a, struct chat *c);

#endif
