/* In a worker thread, reads a request that asks for replies. */
#ifndef INGOT_HOST_SERVE_ASKED_H
#define INGOT_HOST_SERVE_ASKED_H

#include "host/api/serve_choices.h"

struct serve_asked;

/* Takes over a body, and begins to read it and to submit the request's jobs. The server is woken at
 * the end. NULL: no memory. */
struct serve_asked *serve_asked_begin(struct serve_backend *b, const struct api_answer *as,
                                      struct api_text *body, const struct api_defaults *d);

/* True if reading is done; then the replies are in *choices, or the error is in *e, and `a` is
 * freed. */
bool serve_asked_take(struct serve_asked *a, struct serve_choices *choices, struct api_error *e);

/* Frees a request for which nobody waits any more, and ends its jobs. Returns true if the request
 * was not read, so that no backend knows of it. */
bool serve_asked_leave(struct serve_asked *a);

#endif
