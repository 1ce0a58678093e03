/* The demands of the kinds of mixers and feed-forwards that this program lists (layer_kinds.c),
 * for code that opens a model. */
#ifndef INGOT_RUNTIME_LAYER_KINDS_H
#define INGOT_RUNTIME_LAYER_KINDS_H

#include "board/err.h"
#include "runtime/image/image.h"
#include "runtime/model/layer_state.h"

/* Every layer's kinds are listed, have the tensors that they need and wait where its phases begin.
 * image has passed the reader's checks. ERR_UNSUPPORTED: image->error_message names the layer. */
enum err layer_check(struct image *image);

/* Bytes of work space that a token takes in any layer, beside the activations. */
size_t layer_work_bytes(const struct image *image);

/* How many states a sequence has: one for each layer, and where some layer has a second mixer
 * another one for each after them. */
uint32_t layer_state_count(const struct image *image);

/* The kind of state number i; state_none where nothing is remembered. */
const struct layer_state_kind *layer_state_kind(const struct image *image, uint32_t i);

/* The layer that state number i belongs to. */
uint32_t layer_state_layer(const struct image *image, uint32_t i);

/* Bytes of state number i that it has for itself: 0 where it shares the cache of keys and values,
 * or has none. And of all of them, as an arena gives them. */
size_t layer_state_bytes(const struct image *image, uint32_t i);
size_t layer_states_bytes(const struct image *image);

#endif
