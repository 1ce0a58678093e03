#include "runtime/model/recurrence.h"

#include <string.h>

#include "board/min_max.h"

enum { WINDOW = 128 }; /* number of channels whose latest rows are copied to the stack at a time */

struct recurrence_rows recurrence_take(const struct transformer *t, uint8_t **at, size_t n)
{
    struct recurrence_rows rows = { (float *)(void *)*at, recurrence_stride(n) };

    *at += t->act.chunk * rows.stride * sizeof(float);
    return rows;
}

struct recurrent *recurrence_state(const struct transformer *t, const struct transformer_part *p)
{
    struct layer_state *st = &p->states[t->layer];

    if (st->kind != &state_recurrent) { /* the recurrent mixer is the layer's second mixer */
        st += params(t)->n_layers;
    }
    return st->self;
}

void recurrence_copy(const struct transformer *t, unsigned core)
{
    for (uint32_t i = 0; i < t->n_parts; i++) {
        const struct recurrent *r = recurrence_state(t, &t->parts[i]);
        size_t first, last;

        workers_share(t->workers, core, r->n_values, RECURRENCE_STEP, &first, &last);
        recurrent_copy_part(r, first, last);
    }
}

void recurrence_begin(const struct transformer *t, unsigned core)
{
    for (uint32_t i = 0; i < t->n_parts && core == 0; i++) {
        recurrent_touch(recurrence_state(t, &t->parts[i]));
    }
}

void recurrence_share(const struct transformer *t, unsigned core, size_t n, size_t *first,
                      size_t *last)
{
    workers_share(t->workers, core, n, RECURRENCE_STEP, first, last);
}

/* ---- the convolution ------------------------------------------------------------------------- */

/* Channels [first, first + n) of a convolution's rows, for one sequence. */
struct channels {
    const struct transformer_part *part;
    const struct recurrence_rows *x;
    float *kept; /* the state's rows, which precede those of x */
    size_t kept_stride, n_kept;
    size_t first, n;
};

/* Return row i of the sequence. The kept rows come first. */
static const float *row_at(const struct channels *c, size_t i)
{
    if (i < c->n_kept) {
        return c->kept + i * c->kept_stride + c->first;
    }
    return c->x->at + (c->part->first + i - c->n_kept) * c->x->stride + c->first;
}

/* Return the rows for token i's convolution. The first tokens' rows are collected in `window`. */
static const float *rows_of(const struct channels *c, size_t i, float *window, size_t *stride)
{
    if (i >= c->n_kept) {
        *stride = c->x->stride;
        return row_at(c, i);
    }
    for (size_t j = 0; j <= c->n_kept; j++) {
        memcpy(window + j * WINDOW, row_at(c, i + j), c->n * sizeof(float));
    }
    *stride = WINDOW;
    return window;
}

static void convolve_part(const struct transformer *t, const struct channels *c,
                          const struct recurrence_rows *y)
{
    const struct ingot_tensor *w = t->tensors[INGOT_SSM_CONV];
    const float *weights = layer_vector(t, INGOT_SSM_CONV) + c->first;
    const float *bias = layer_vector(t, INGOT_SSM_CONV_BIAS);
    float window[WINDOW * INGOT_MAX_TAPS];
    struct conv_shape shape = { c->n_kept + 1, c->n, 0, w->cols_padded };

    for (size_t i = 0; i < c->part->n; i++) {
        const float *x = rows_of(c, i, window, &shape.x_stride);

        t->kernels->conv_f32(y->at + (c->part->first + i) * y->stride + c->first, x, weights,
                             bias == NULL ? NULL : bias + c->first, &shape);
    }
}

/* Keep the last rows, in ascending order. If the pass has fewer tokens than rows are kept, some of
 * the old rows move to the front. */
static void keep_rows(const struct channels *c)
{
    for (size_t j = 0; j < c->n_kept; j++) {
        memcpy(c->kept + j * c->kept_stride + c->first, row_at(c, c->part->n + j),
               c->n * sizeof(float));
    }
}

static void convolve(const struct transformer *t, const struct transformer_part *p,
                     const struct recurrence_rows *y, const struct recurrence_rows *x, size_t first,
                     size_t last)
{
    for (size_t at = first; at < last; at += WINDOW) {
        struct channels c = { p,
                              x,
                              recurrence_state(t, p)->rows,
                              recurrent_channels(t->data),
                              t->data->conv_taps - 1u,
                              at,
                              min_size(last - at, WINDOW) };

        convolve_part(t, &c, y);
        keep_rows(&c);
    }
}

void recurrence_convolve(const struct transformer *t, const struct recurrence_rows *y,
                         const struct recurrence_rows *x, size_t first, size_t last)
{
    for (uint32_t i = 0; i < t->n_parts; i++) {
        convolve(t, &t->parts[i], y, x, first, last);
    }
}

/* ---- matrices -------------------------------------------------------------------------------- */

void recurrence_multiply(const struct transformer *t, unsigned core, enum ingot_role role,
                         const struct recurrence_rows *y)
{
    const struct ingot_tensor *w = t->tensors[role];
    struct linear_input normed = layer_normed(t, core);

    layer_multiply(t, core, w, t->segment + w->offset, w->rows, &normed, y->at, y->stride);
}

bool recurrence_finish(const struct transformer *t, unsigned core,
                       const struct recurrence_rows *rows)
{
    const struct ingot_tensor *w = t->tensors[INGOT_SSM_OUT];
    struct linear_input in;

    if (!layer_take(t, core, INGOT_SSM_OUT, rows->at, rows->stride, &in)) {
        return false;
    }
    layer_multiply(t, core, w, t->segment + w->offset, w->rows, &in, t->act.out, t->act.dim_stride);
    return true;
}

/* ---- the states ------------------------------------------------------------------------------ */

struct recurrence_columns recurrence_columns(const struct ingot_layer *l, size_t at, size_t last)
{
    size_t width = l->inner_dim / l->inner_heads;
    struct recurrence_columns c = { at / width, at % width, 0 };

    c.n = min_size(min_size(last - at, width - c.first), RECURRENCE_COLUMNS);
    return c;
}

float *recurrence_matrix(const struct transformer *t, const struct transformer_part *p,
                         const struct recurrence_columns *c, struct state_shape *shape)
{
    size_t width = t->data->inner_dim / t->data->inner_heads;

    *shape = (struct state_shape){ t->data->state_dim, c->n, width };
    return recurrence_state(t, p)->matrices + c->head * shape->rows * width + c->first;
}
