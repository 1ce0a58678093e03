/* The gated delta net of a layer (Qwen3.5): its state maps keys to values, fades, and moves towards
 * what a token brings. */
#ifndef INGOT_RUNTIME_MIXER_DELTA_H
#define INGOT_RUNTIME_MIXER_DELTA_H

#include "runtime/model/layer.h"

extern const struct layer_block mixer_delta;

#endif
