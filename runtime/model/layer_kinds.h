/* The demands of the kinds of mixers and feed-forwards that this program lists (layer_kinds.c),
 * for code that opens a model. */
#ifndef INGOT_RUNTIME_LAYER_KINDS_H
#define INGOT_RUNTIME_LAYER_KINDS_H

#include "board/err.h"
#include "runtime/image/image.h"
#include "runtime/model/layer_state.h"

/* Every layer's kinds are listed, have the tensors that they need and wait where its phases begin.
 * image has passed the reader's checks. ERR_UNSUPPORTED: image->problem names the layer. */
enum err layer_check(struct image *image);

/* Bytes of work space that a token takes in any layer, beside the activations. */
size_t layer_work_bytes(const struct image *image);

/* The kind of the layer's state; state_none for a layer that remembers nothing. */
const struct layer_state_kind *layer_state_of(const struct ingot_layer *l);

#endif
