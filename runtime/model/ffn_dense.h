/* The dense feed-forward: down(act(gate(x)) * up(x)), or down(act(up(x))). */
#ifndef INGOT_RUNTIME_FFN_DENSE_H
#define INGOT_RUNTIME_FFN_DENSE_H

#include "runtime/model/layer.h"

extern const struct layer_block ffn_dense;

/* Run the dense feed-forward, also for experts with a dense part. */
bool ffn_dense_run(const struct transformer *t, unsigned core);

/* Write the layer's activation of n numbers of gate and up, or only of up, to
 * gate. */
void ffn_activate(const struct transformer *t, float *gate, const float *up, size_t n);

#endif
