/* A layer's gated delta net (Qwen3.5). The net's state maps keys to values, fades, and moves
 * towards the values of new tokens. */
#ifndef INGOT_RUNTIME_MIXER_DELTA_H
#define INGOT_RUNTIME_MIXER_DELTA_H

#include "runtime/model/layer.h"

extern const struct layer_block mixer_delta;

#endif
