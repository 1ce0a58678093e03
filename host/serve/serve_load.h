/* The models that a backend of `ingot serve` has, and the choice of another one. */
#ifndef INGOT_HOST_SERVE_LOAD_H
#define INGOT_HOST_SERVE_LOAD_H

#include "host/serve/serve_backend.h"

/* The answer to GET /models, added to out: each model of any board once, with how many have it; model: the one that answers. */
void serve_load_list(struct serve_text *out, const struct serve_backend *b, const char *model);

/* The body of POST /models/load: the backend is to have that model, whose name goes to model (SERVE_MODEL_BYTES), and the answer
 * to out. False: *e says why not. */
bool serve_load(struct serve_text *out, const struct serve_backend *b,
                const struct serve_text *body, char *model, struct serve_error *e);

#endif
