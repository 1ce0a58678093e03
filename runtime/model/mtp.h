/* An MTP head is a few layers that guess the tokens after a model's next token. For each token the
 * head's input has two halves: the token's row of the model's embedding, and the previous token's
 * hidden state as it is after the last norm. The head uses the model's output matrix. In this
 * folder transformer.c and mixer_attention.c use these functions; struct transformer_mtp says where
 * the hidden states are.
 *
 *   x = W [ rms(embedding(token)) * w_token | rms(hidden(token before)) * w_hidden ]
 *
 * Source: DeepSeek-V3 (arXiv 2412.19437), section 2.2; the order of the halves is that of GGUF
 * files.
 *
 * An assistant (Gemma 4) has layers without keys. Every token of a draft has the first token's
 * position and attends to the model's keys and values of earlier tokens. The assistant's output
 * matrix is its own, and its input has no norms:
 *
 *   x = W [ embedding(token) * embedding_scale | hidden(token before) ]
 *
 * If the token was guessed, the hidden state is the assistant's own, after the last norm, times
 * MTP_STATE. Sources: the descriptions of the model in Transformers (models/gemma4_assistant) and
 * in llama.cpp (gemma4-assistant). The two descriptions differ at the far end of a window: here, as
 * in llama.cpp, a layer sees the keys that a layer of the model sees from the same position. */
#ifndef INGOT_RUNTIME_MTP_H
#define INGOT_RUNTIME_MTP_H

#include "runtime/compute/attention.h"
#include "runtime/model/transformer.h"

/* Return true for an assistant. */
static inline bool mtp_is_assistant(const struct image *image)
{
    return image->header->params.target_dim != 0;
}

/* Return the model's layer whose keys an assistant's layer l reads. These are the keys that the
 * model's last attention layer with a window uses, or the last one without a window if l has no
 * window. Returns the number of layers if there is no such layer. */
uint32_t mtp_key_layer(const struct image *model, const struct ingot_layer *l);

/* Let a block of an assistant's queries read the keys of its model. */
void mtp_take_keys(const struct transformer *t, struct attention_block *b);

/* Compute act.x of the tokens, and set an assistant's position. ERR_UNSUPPORTED: the head has no
 * model yet. Errors of the model's stream. */
enum err mtp_embed(struct transformer *t, const uint32_t *tokens, uint32_t n);

/* Do as transformer_logits, for one token of an MTP head. ERR_UNSUPPORTED: the model's output
 * matrix is not in memory. */
enum err mtp_logits(struct transformer *t, uint32_t token, uint32_t n, float **logits);

#endif
