/* Common parts of the mixers with a recurrent state. The recurrence is computed token by token as
 * it is defined, also in a prompt. All matrices run over the chunk; then convolution and state go
 * from token to token, on the core that owns the channels or columns. A column of a state does not
 * depend on other columns, so no sum crosses cores, and any number of cores, tokens or passes
 * gives the same bits.
 *
 * On every core call recurrence_copy, pass a barrier, call recurrence_begin, then
 * recurrence_convolve for the core's channels, and compute the columns of its heads. */
#ifndef INGOT_RUNTIME_RECURRENCE_H
#define INGOT_RUNTIME_RECURRENCE_H

#include "runtime/model/layer.h"
#include "runtime/model/state_recurrent.h"

enum {
    RECURRENCE_STEP = 16, /* cores share channels and columns in steps of this many: no vector is
                           * longer */
    RECURRENCE_COLUMNS =
        32, /* bytes of a state through which all tokens pass in one run: they fit the first-level
             * cache */
};

/* Rows of floats in act.work, one for each token. */
struct recurrence_rows {
    float *at;
    size_t stride;
};

/* Floats that a row of n takes, padded like the input of a matrix. */
static inline size_t recurrence_stride(size_t n)
{
    return (n + 31) / 32 * 32;
}

/* Take the next rows of n floats for the chunk from act.work, where *at is the first free byte. */
struct recurrence_rows recurrence_take(const struct transformer *t, uint8_t **at, size_t n);

/* Return the state of the current layer's recurrent mixer, for one sequence of the pass. */
struct recurrent *recurrence_state(const struct transformer *t, const struct transformer_part *p);

/* Make this core's part of the copy before the pass. */
void recurrence_copy(const struct transformer *t, unsigned core);

/* Multiply the layer's matrix in a role, without a bias, with the normed input. */
void recurrence_multiply(const struct transformer *t, unsigned core, enum ingot_role role,
                         const struct recurrence_rows *y);

/* Call when all cores have copied, before the state changes. */
void recurrence_begin(const struct transformer *t, unsigned core);

/* This core's share of n channels or columns. */
void recurrence_share(const struct transformer *t, unsigned core, size_t n, size_t *first,
                      size_t *last);

/* Compute channels [first, last) of the convolution for every token: from x to y, which must
 * differ. Afterwards the state's rows are those of the latest tokens. */
void recurrence_convolve(const struct transformer *t, const struct recurrence_rows *y,
                         const struct recurrence_rows *x, size_t first, size_t last);

/* Multiply the rows with SSM_OUT, which gives the mixer's result. Return false if the weights will
 * not arrive. */
bool recurrence_finish(const struct transformer *t, unsigned core,
                       const struct recurrence_rows *rows);

/* Some adjacent columns of one head's state, which a core computes. */
struct recurrence_columns {
    size_t head;
    size_t first, n; /* columns of the head */
};

/* Return the next columns, from number `at` in the count over all heads, at most RECURRENCE_COLUMNS
 * and before `last`. */
struct recurrence_columns recurrence_columns(const struct ingot_layer *l, size_t at, size_t last);

/* Return the start of columns of a sequence's state, and their shape for the kernels. */
float *recurrence_matrix(const struct transformer *t, const struct transformer_part *p,
                         const struct recurrence_columns *c, struct state_shape *shape);

#endif
