/* Experts: some of many feed-forwards, chosen for each position by a router, optionally with
 * a dense feed-forward that all positions share. */
#ifndef INGOT_RUNTIME_FFN_EXPERTS_H
#define INGOT_RUNTIME_FFN_EXPERTS_H

#include "runtime/model/layer.h"

extern const struct layer_block ffn_experts;

#endif
