/* An MTP head: a few layers that guess the tokens after a model's next one. Its input for each
 * token is the token's row of the model's embedding, and the hidden state, after the last norm, of
 * the token before; its output matrix is the model's. Only for transformer.c; transformer_mtp says
 * where the hidden states are.
 *
 *   x = W [ rms(embedding(token)) * w_token | rms(hidden(token before)) * w_hidden ]
 *
 * Source: DeepSeek-V3 (arXiv 2412.19437), section 2.2; the order of the halves is that of GGUF
 * files. */
#ifndef INGOT_RUNTIME_MTP_H
#define INGOT_RUNTIME_MTP_H

#include "runtime/model/transformer.h"

/* Compute act.x of the tokens. ERR_UNSUPPORTED: the head has no model yet. Errors of the model's
 * stream. */
enum err mtp_embed(struct transformer *t, const uint32_t *tokens, uint32_t n);

/* transformer_logits for one token. ERR_UNSUPPORTED: the model's output matrix is not in memory. */
enum err mtp_logits(struct transformer *t, uint32_t token, uint32_t n, float **logits);

#endif
