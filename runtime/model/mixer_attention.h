/* Attention over the positions of the cache. Heads have queries, keys and values. */
#ifndef INGOT_RUNTIME_MIXER_ATTENTION_H
#define INGOT_RUNTIME_MIXER_ATTENTION_H

#include "runtime/model/layer.h"

extern const struct layer_block mixer_attention;

#endif
