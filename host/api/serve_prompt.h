/* A request's prompt as tokens, in the model's template. */
#ifndef INGOT_HOST_SERVE_PROMPT_H
#define INGOT_HOST_SERVE_PROMPT_H

#include "host/api/serve_request.h"
#include "runtime/wire/json_biases.h"
#include "runtime/model/model.h"

/* ids (context) gets *n < context tokens. False: e says why not. */
bool serve_prompt_encode(const struct model *m, const struct serve_request *q, uint32_t context,
                         uint32_t *ids, size_t *n, struct serve_error *e);

/* The same for one input of a request for embeddings, a text or numbers of tokens. */
bool serve_prompt_encode_text(const struct model *m, const struct serve_turn *input,
                              uint32_t context, uint32_t *ids, size_t *n, struct serve_error *e);

/* Puts what the request adds to logits, as tokens of the session's model, into *biases, which
 * the sampler then has. */
bool serve_prompt_biases(const struct session *s, const struct serve_request *q,
                         struct json_biases *biases, struct sampler_params *sampler,
                         struct serve_error *e);

#endif
