/* The state of layers that remember nothing. Such a state can be cut at any token. */
#ifndef INGOT_RUNTIME_STATE_NONE_H
#define INGOT_RUNTIME_STATE_NONE_H

#include "runtime/model/layer_state.h"

extern const struct layer_state_kind state_none;

#endif
