/* Experts are many feed-forwards; a router chooses some for each position. All positions may also
 * share a dense feed-forward. */
#ifndef INGOT_RUNTIME_FFN_EXPERTS_H
#define INGOT_RUNTIME_FFN_EXPERTS_H

#include "runtime/model/layer.h"

extern const struct layer_block ffn_experts;

#endif
