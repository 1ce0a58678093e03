/* The models that a backend of `ingot serve` has, and how another one is chosen. */
#ifndef INGOT_HOST_SERVE_LOAD_H
#define INGOT_HOST_SERVE_LOAD_H

#include "host/serve/serve_backend.h"

/* Adds the answer to GET /models to out: each model of any board once, with how many boards have
 * it. model: the one that answers. */
void serve_load_list(struct api_text *out, const struct serve_backend *b, const char *model);

/* Reads the body of POST /models/load. The name of the model that the backend is to load goes to
 * model (API_MODEL_BYTES), and the answer to out. False: *e says why not. */
bool serve_load(struct api_text *out, const struct serve_backend *b, const struct api_text *body,
                char *model, struct api_error *e);

#endif
