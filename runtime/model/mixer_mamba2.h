/* Mamba2 of a layer (Granite 4, Nemotron-H, Falcon-H1); also beside another mixer, of whose normed
 * input it is as well. */
#ifndef INGOT_RUNTIME_MIXER_MAMBA2_H
#define INGOT_RUNTIME_MIXER_MAMBA2_H

#include "runtime/model/layer.h"

extern const struct layer_block mixer_mamba2;

#endif
