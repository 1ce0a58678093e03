/* Whether the kinds of layer_kinds.c can run a model. */
#ifndef INGOT_RUNTIME_LAYER_CHECK_H
#define INGOT_RUNTIME_LAYER_CHECK_H

#include "board/err.h"
#include "runtime/image/image.h"

/* Every layer's kinds are listed, have the tensors that they need and wait where its phases begin.
 * image has passed the reader's checks. ERR_UNSUPPORTED: image->problem names the layer. */
enum err layer_check(struct image *image);

/* Bytes of work space that a token takes in any layer, beside the activations. */
size_t layer_work_bytes(const struct image *image);

#endif
