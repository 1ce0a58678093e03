/* Each layer has embeddings (Gemma 4), small vectors that it adds for each token. Their table stays
 * on the card. Only the files of this folder include this header. */
#ifndef INGOT_RUNTIME_LAYER_EMBEDDING_H
#define INGOT_RUNTIME_LAYER_EMBEDDING_H

#include "runtime/model/layer.h"

/* layer_embedding_ask requests the rows of the pass's tokens, once the tokens are known.
 * layer_embedding_read later puts the rows as floats into act.rows_per_layer. Only core 0 calls
 * these. Errors: those of the stream. */
void layer_embedding_ask(struct transformer *t, const uint32_t *tokens, uint32_t n);
enum err layer_embedding_read(struct transformer *t, uint32_t n);

/* Before layer 0: act.per_layer becomes (rms(P x / sqrt(dim)) w + row sqrt(d)) / sqrt(2), with d =
 * per_layer_dim numbers for each layer. All cores call this; a barrier follows. */
void layer_embedding_begin(const struct transformer *t, unsigned core);

/* At a layer's end: x += rms(W (gelu(G x) * act.per_layer)) w. All cores call this. Return false if
 * a part of the weights will not arrive. */
bool layer_embedding_add(const struct transformer *t, unsigned core);

#endif
