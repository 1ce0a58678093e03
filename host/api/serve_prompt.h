/* Turns a request's prompt into tokens, with the model's template. */
#ifndef INGOT_HOST_SERVE_PROMPT_H
#define INGOT_HOST_SERVE_PROMPT_H

#include "host/api/serve_request.h"
#include "runtime/wire/json_biases.h"
#include "runtime/model/model.h"

/* Writes *n < context tokens to ids (context). False: *e gives the reason. */
bool serve_prompt_encode(const struct model *m, const struct api_request *q, uint32_t context,
                         uint32_t *ids, size_t *n, struct api_error *e);

/* Does the same for one input of a request for embeddings, a text or numbers of tokens. */
bool serve_prompt_encode_text(const struct model *m, const struct api_turn *input, uint32_t context,
                              uint32_t *ids, size_t *n, struct api_error *e);

/* Copies the request's logit biases to *biases, for tokens of the session's model, and gives them
 * to the sampler. */
bool serve_prompt_biases(const struct session *s, const struct api_request *q,
                         struct json_biases *biases, struct sampler_params *sampler,
                         struct api_error *e);

#endif
