/* One layer of the transformer, whose shape the parameters give: what every core of the team runs
 * between two barriers of transformer.c. Only transformer.c and layer.c include this. */
#ifndef INGOT_RUNTIME_LAYER_H
#define INGOT_RUNTIME_LAYER_H

#include "runtime/linear.h"
#include "runtime/transformer.h"

enum {
    ROW_STEP = 8,   /* rows are shared out in whole interleaved groups */
    POLL_ROWS = 128, /* rows between two looks at the card, and what a gemm of RVV takes at once */
};

static inline const struct ingot_params *params(const struct transformer *t)
{
    return &t->image->header->params;
}

/* This core's rows of w: y = W x for the tokens of the input. Core 0 keeps the card busy: a large
 * matrix takes longer than what is in flight. */
static inline void multiply(const struct transformer *t, unsigned core, const struct ingot_tensor *w,
                     const uint8_t *rows, size_t n_rows, const struct linear_input *in, float *y,
                     size_t y_stride)
{
    size_t first, last;

    team_share(t->team, core, n_rows, ROW_STEP, &first, &last);
    for (size_t r = first; r < last; r += POLL_ROWS) {
        linear_rows(t->kernels, &t->act, w, rows, in, y, y_stride, r,
                    last - r < POLL_ROWS ? last - r : POLL_ROWS);
        if (core == 0) {
            stream_poll(t->stream);
        }
    }
}

/* Run layer t->layer, whose weights lie at t->extent, on this core's share of the chunk. */
void layer_run(const struct transformer *t, unsigned core);

#endif
