/* The dense feed-forward: down(act(gate(x)) * up(x)), or down(act(up(x))). */
#ifndef INGOT_RUNTIME_FFN_DENSE_H
#define INGOT_RUNTIME_FFN_DENSE_H

#include "runtime/model/layer.h"

extern const struct layer_block ffn_dense;

/* Its run, for experts with a dense part beside them. */
bool ffn_dense_run(const struct transformer *t, unsigned core);

/* The layer's activation of n numbers: of gate and up, or of up alone, to gate. */
void ffn_activate(const struct transformer *t, float *gate, const float *up, size_t n);

#endif
