/* Turns a request's prompt into tokens, for a model on this computer. */
#ifndef INGOT_HOST_SERVE_PROMPT_H
#define INGOT_HOST_SERVE_PROMPT_H

#include "host/api/serve_request.h"
#include "runtime/api/api_tokens.h"
#include "runtime/wire/json_biases.h"

/* Returns an encoder that takes its work space from the heap. */
struct api_encoder serve_prompt_encoder(const struct model *m, uint32_t context);

/* Copies the request's logit biases to *biases, for tokens of the session's model, and gives them
 * to the sampler. */
bool serve_prompt_biases(const struct session *s, const struct api_request *q,
                         struct json_biases *biases, struct sampler_params *sampler,
                         struct api_error *e);

#endif
