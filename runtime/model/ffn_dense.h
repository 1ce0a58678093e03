/* The dense feed-forward: down(act(gate(x)) * up(x)), or down(act(up(x))). */
#ifndef INGOT_RUNTIME_FFN_DENSE_H
#define INGOT_RUNTIME_FFN_DENSE_H

#include "runtime/model/layer.h"

extern const struct layer_block ffn_dense;

#endif
