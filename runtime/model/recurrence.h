/* Common parts of the mixers with a recurrent state. The recurrence is computed token by token, as
 * it is defined, even in a prompt. All matrices run over the chunk. Then the core that owns a
 * channel or column advances convolution and state from token to token. A column of a state does
 * not depend on other columns, so no sum crosses cores, and any number of cores, tokens or passes
 * gives the same bits.
 *
 * On every core call recurrence_copy, pass a barrier, call recurrence_begin, then
 * recurrence_convolve for the core's channels, and compute the columns of its heads. */
#ifndef INGOT_RUNTIME_RECURRENCE_H
#define INGOT_RUNTIME_RECURRENCE_H

#include "runtime/model/layer.h"
#include "runtime/model/state_recurrent.h"

enum {
    RECURRENCE_STEP = 16, /* cores share channels and columns in steps of 16, the longest
                           * vector */
    RECURRENCE_COLUMNS =
        32, /* columns of a state through which all tokens pass in one run; they fit in the
             * first-level cache */
};

/* Rows of floats in act.work, one for each token. */
struct recurrence_rows {
    float *at;
    size_t stride;
};

/* Return the number of floats in a row of n numbers that is padded like the input of a matrix. */
static inline size_t recurrence_stride(size_t n)
{
    return (n + 31) / 32 * 32;
}

/* Take the next rows of n floats for the chunk from act.work, where *at is the first free byte. */
struct recurrence_rows recurrence_take(const struct transformer *t, uint8_t **at, size_t n);

/* Return the state of the current layer's recurrent mixer, for one sequence of the pass. */
struct recurrent *recurrence_state(const struct transformer *t, const struct transformer_part *p);

/* Before the pass, copy this core's part of the states. */
void recurrence_copy(const struct transformer *t, unsigned core);

/* Multiply the normed input by the layer's matrix in a role, without a bias. */
void recurrence_multiply(const struct transformer *t, unsigned core, enum ingot_role role,
                         const struct recurrence_rows *y);

/* Call after all cores have copied, before the state changes. */
void recurrence_begin(const struct transformer *t, unsigned core);

/* Compute this core's share, [*first, *last), of n channels or columns. */
void recurrence_share(const struct transformer *t, unsigned core, size_t n, size_t *first,
                      size_t *last);

/* Compute channels [first, last) of the convolution from x to y, which must differ, for every
 * token. Afterwards the state's rows are those of the latest tokens. */
void recurrence_convolve(const struct transformer *t, const struct recurrence_rows *y,
                         const struct recurrence_rows *x, size_t first, size_t last);

/* Multiply the rows by SSM_OUT to get the mixer's result. Return false if the weights will not
 * arrive. */
bool recurrence_finish(const struct transformer *t, unsigned core,
                       const struct recurrence_rows *rows);

/* Some adjacent columns of one head's state, which a core computes. */
struct recurrence_columns {
    size_t head;
    size_t first, n; /* columns of the head */
};

/* Return the next columns of one head, at most RECURRENCE_COLUMNS, from column `at` on and before
 * `last`. `at` and `last` count the columns of all heads. */
struct recurrence_columns recurrence_columns(const struct ingot_layer *l, size_t at, size_t last);

/* Return where these columns begin in a sequence's state. *shape becomes their shape for the
 * kernels. */
float *recurrence_matrix(const struct transformer *t, const struct transformer_part *p,
                         const struct recurrence_columns *c, struct state_shape *shape);

#endif
