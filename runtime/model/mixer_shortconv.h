/* A layer's short convolution (LFM2): [B|C|u] = W_in x, y = conv(B u), out = W_out (C y). */
#ifndef INGOT_RUNTIME_MIXER_SHORTCONV_H
#define INGOT_RUNTIME_MIXER_SHORTCONV_H

#include "runtime/model/layer.h"

extern const struct layer_block mixer_shortconv;

#endif
