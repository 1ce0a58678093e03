/* The state of a layer with a recurrence is the latest rows before its convolution, and a matrix
 * for each inner head. The state's size does not depend on the number of tokens, and tokens cannot
 * be removed from it. Therefore copies of the state are kept: before the current pass, at the
 * beginnings of the latest turns, and after the common beginning of all conversations. A cut goes
 * back to the nearest copy. */
#ifndef INGOT_RUNTIME_STATE_RECURRENT_H
#define INGOT_RUNTIME_STATE_RECURRENT_H

#include "runtime/model/layer_state.h"

enum { RECURRENT_KEPT = 2 }; /* number of turns whose beginnings are kept */

/* A copy of the state after n tokens. n is 0 if there is no copy; in `now`, 0 means an empty
 * state. */
struct recurrent_copy {
    float *values; /* (n_values) */
    uint32_t n;
};

struct recurrent {
    size_t n_values;
    struct recurrent_copy now, pass, kept[RECURRENT_KEPT + 1]; /* the last of kept[] is the copy
                                                                * after the prefix */
    bool wanted;  /* copy the state before the next change */
    bool touched; /* a pass has begun to change the state and has not left the layer */

    float *rows;     /* (conv_taps - 1, channels) rows before the convolution, oldest first */
    float *matrices; /* (inner_heads, state_dim, inner_dim / inner_heads) */
};

/* Channels of a layer's convolution: 2 n_groups state_dim + inner_dim. */
static inline size_t recurrent_channels(const struct ingot_layer *l)
{
    return 2 * (size_t)l->n_groups * l->state_dim + l->inner_dim;
}

/* Return the bytes of one copy. */
size_t recurrent_bytes(const struct ingot_layer *l);

/* If a copy is needed before a pass, copy values [first, last). Each core copies its own part, and
 * all pass a barrier before the state changes. */
void recurrent_copy_part(const struct recurrent *r, size_t first, size_t last);

/* Core 0 calls this after that barrier. From now on the state changes. */
void recurrent_touch(struct recurrent *r);

extern const struct layer_state_kind state_recurrent;

#endif
