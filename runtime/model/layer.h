/* One layer of the transformer, whose shape the parameters give: what every worker runs
 * between two barriers of transformer.c. Only transformer.c, layer.c and
 * calibrate_compute.c include this. */
#ifndef INGOT_RUNTIME_LAYER_H
#define INGOT_RUNTIME_LAYER_H

#include "runtime/compute/linear.h"
#include "runtime/model/transformer.h"

enum { ROW_STEP = 8 }; /* rows are shared out in whole interleaved groups */

static inline const struct ingot_params *params(const struct transformer *t)
{
    return &t->image->header->params;
}

/* This core's share of the n_rows rows of w at `rows` (whole interleaved groups): y = W x for the
 * tokens of the input, which was prepared for w->type (linear.h); y (n_tokens, n_rows) f32, a
 * token's row y_stride floats after the one before. Core 0 keeps the card busy meanwhile. */
void layer_multiply(const struct transformer *t, unsigned core, const struct ingot_tensor *w,
                    const uint8_t *rows, size_t n_rows, const struct linear_input *in, float *y,
                    size_t y_stride);

/* Run layer t->layer, whose weights lie at t->segment, on this core's share of the chunk. */
void layer_run(const struct transformer *t, unsigned core);

#endif
