/* Common parts of the mixers with a recurrent state. The recurrence is the definition, in a
 * prompt too: all matrices run over the chunk, then convolution and state go from token to token, on
 * the core that owns the channels or the columns. A column of a state needs nothing of the others,
 * so no sum crosses cores, and any number of cores, tokens or passes gives the same bits.
 *
 * On every core: recurrence_copy before a barrier; recurrence_begin after it; then
 * recurrence_convolve of its channels, and the columns of its heads. */
#ifndef INGOT_RUNTIME_RECURRENCE_H
#define INGOT_RUNTIME_RECURRENCE_H

#include "runtime/model/layer.h"
#include "runtime/model/state_recurrent.h"

enum {
    RECURRENCE_STEP = 16, /* channels and columns are shared out so, as no vector is longer */
    RECURRENCE_COLUMNS =
        32, /* of a state whose tokens run together: they stay in the first cache */
};

/* Rows of floats in act.work, one a token. */
struct recurrence_rows {
    float *at;
    size_t stride;
};

/* Floats of a row of n, padded as the input of a matrix is. */
static inline size_t recurrence_stride(size_t n)
{
    return (n + 31) / 32 * 32;
}

/* Take the next rows of n floats for the chunk from act.work, where *at is the first byte left. */
struct recurrence_rows recurrence_take(const struct transformer *t, uint8_t **at, size_t n);

/* The state of the recurrent mixer of the layer at work, of one sequence of the pass. */
struct recurrent *recurrence_state(const struct transformer *t, const struct transformer_part *p);

/* This core's part of the copy before the pass. */
void recurrence_copy(const struct transformer *t, unsigned core);

/* The layer's matrix in a role, without a bias, of the normed input. */
void recurrence_multiply(const struct transformer *t, unsigned core, enum ingot_role role,
                         const struct recurrence_rows *y);

/* The state changes from here on; all cores have copied. */
void recurrence_begin(const struct transformer *t, unsigned core);

/* This core's share of n channels or columns. */
void recurrence_share(const struct transformer *t, unsigned core, size_t n, size_t *first,
                      size_t *last);

/* Channels [first, last) of the convolution of every token: x to y, which are not the same. The
 * state's rows are those of the latest tokens then. */
void recurrence_convolve(const struct transformer *t, const struct recurrence_rows *y,
                         const struct recurrence_rows *x, size_t first, size_t last);

/* The rows through SSM_OUT: the mixer's result. False: it will not come. */
bool recurrence_finish(const struct transformer *t, unsigned core,
                       const struct recurrence_rows *rows);

/* The columns of the states that a core owns, some of one head at a time. */
struct recurrence_columns {
    size_t head;
    size_t first, n; /* of the head's */
};

/* The columns from number `at` of all heads on, at most RECURRENCE_COLUMNS, before `last`. */
struct recurrence_columns recurrence_columns(const struct ingot_layer *l, size_t at, size_t last);

/* The start of columns of a sequence's state, and their shape for the kernels. */
float *recurrence_matrix(const struct transformer *t, const struct transformer_part *p,
                         const struct recurrence_columns *c, struct state_shape *shape);

#endif
