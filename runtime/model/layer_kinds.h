/* Tells code that opens a model what its mixers and feed-forwards need (layer_kinds.c). */
#ifndef INGOT_RUNTIME_LAYER_KINDS_H
#define INGOT_RUNTIME_LAYER_KINDS_H

#include "board/err.h"
#include "runtime/image/image.h"
#include "runtime/model/layer_state.h"

/* For every layer, check that its kinds are listed, that it has the tensors that the kinds need,
 * and that the kinds wait wherever a phase of the layer begins. `image` has passed the reader's
 * checks. After ERR_UNSUPPORTED image->error_message names the layer. */
enum err layer_check(struct image *image);

/* Return the most bytes of work space that a token needs in a layer, besides the activations. */
size_t layer_work_bytes(const struct image *image);

/* Return how many states a sequence has: one for each layer or, if any layer has a second mixer,
 * two for each layer. */
uint32_t layer_state_count(const struct image *image);

/* Return the kind of state number i, or state_none if the layer has no state. */
const struct layer_state_kind *layer_state_kind(const struct image *image, uint32_t i);

/* Return the layer to which state number i belongs. */
uint32_t layer_state_layer(const struct image *image, uint32_t i);

/* Return the bytes of memory of state i, or 0 if it uses the cache of keys and values or needs
 * none. layer_states_bytes returns the sum for all states, as an arena allocates them. */
size_t layer_state_bytes(const struct image *image, uint32_t i);
size_t layer_states_bytes(const struct image *image);

#endif
