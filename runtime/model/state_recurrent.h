/* The state of a layer with a recurrence: the latest rows before its convolution, and a matrix
 * for each inner head. Its size does not depend on the number of tokens, and tokens cannot be
 * removed from it. Copies are therefore kept: of the state before the current pass, at the
 * beginnings of the latest turns, and at the end of the common beginning of all conversations. A
 * cut goes back to the nearest copy. */
#ifndef INGOT_RUNTIME_STATE_RECURRENT_H
#define INGOT_RUNTIME_STATE_RECURRENT_H

#include "runtime/model/layer_state.h"

enum { RECURRENT_KEPT = 2 }; /* turns whose beginnings are kept */

/* A state after n tokens; 0: empty, except for the current one. */
struct recurrent_copy {
    float *values; /* (n_values) */
    uint32_t n;
};

struct recurrent {
    size_t n_values;
    struct recurrent_copy now, pass, kept[RECURRENT_KEPT + 1]; /* the prefix is the last */
    bool wanted;  /* copy the state before the next change */
    bool touched; /* a pass has begun to change it and has not left the layer */

    float *rows;     /* (conv_taps - 1, channels) before the convolution, the oldest first */
    float *matrices; /* (inner_heads, state_dim, inner_dim / inner_heads) */
};

/* Channels of a layer's convolution: 2 n_groups state_dim + inner_dim. */
static inline size_t recurrent_channels(const struct ingot_layer *l)
{
    return 2 * (size_t)l->n_groups * l->state_dim + l->inner_dim;
}

/* Bytes of one copy. */
size_t recurrent_bytes(const struct ingot_layer *l);

/* Copy values [first, last) for the copy before a pass, if one is needed: each core makes its
 * own part, and all pass a barrier before the state changes. */
void recurrent_copy_part(const struct recurrent *r, size_t first, size_t last);

/* After that barrier, core 0: the state changes from here on. */
void recurrent_touch(struct recurrent *r);

extern const struct layer_state_kind state_recurrent;

#endif
