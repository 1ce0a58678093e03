/* A request for replies that is read in a worker's thread. */
#ifndef INGOT_HOST_SERVE_ASKED_H
#define INGOT_HOST_SERVE_ASKED_H

#include "host/api/serve_choices.h"

struct serve_asked;

/* Begin to read a body, which is taken, and to submit its jobs; the server is woken when that is done. NULL: no memory. */
struct serve_asked *serve_asked_begin(struct serve_backend *b, const struct serve_answer *as,
                                      struct serve_text *body, const struct serve_defaults *d);

/* Whether it is done: its replies are in *choices then, or the error in *e, and it is freed. */
bool serve_asked_take(struct serve_asked *a, struct serve_choices *choices, struct serve_error *e);

/* Nobody waits for it any more: it is freed, and its jobs end. True: it was not read, so that no backend knows of it. */
bool serve_asked_leave(struct serve_asked *a);

#endif
