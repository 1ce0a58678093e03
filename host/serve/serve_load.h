/* Lists the models of a backend of `ingot serve`, and chooses another one. */
#ifndef INGOT_HOST_SERVE_LOAD_H
#define INGOT_HOST_SERVE_LOAD_H

#include "host/api/serve_backend.h"

/* Adds the answer to GET /models to out: each model that a board has, once, with the number of
 * boards that have it. model: the current model. */
void serve_load_list(struct api_text *out, const struct serve_backend *b, const char *model);

/* Reads the body of POST /models/load. Writes to model (API_MODEL_BYTES) the name of the model that
 * the backend must load, and the answer to out. If it returns false, *e gives the reason. */
bool serve_load(struct api_text *out, const struct serve_backend *b, const struct api_text *body,
                char *model, struct api_error *e);

#endif
