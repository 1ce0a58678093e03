/* The Mamba2 mixer of a layer (Granite 4, Nemotron-H, Falcon-H1). It can also be a layer's second
 * mixer, with the same normed input. */
#ifndef INGOT_RUNTIME_MIXER_MAMBA2_H
#define INGOT_RUNTIME_MIXER_MAMBA2_H

#include "runtime/model/layer.h"

extern const struct layer_block mixer_mamba2;

#endif
