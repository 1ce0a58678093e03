#include "runtime/model/state_recurrent.h"

#include <string.h>

#include "board/min_max.h"

enum {
    ALIGN = 64,
    ALIGN_VALUES = ALIGN / sizeof(float),
    N_KEPT = RECURRENT_KEPT + 1,
    COPIES = 2 + N_KEPT
};

static size_t round_up(size_t n, size_t step)
{
    return (n + step - 1) / step * step;
}

/* ---- memory --------------------------------------------------------------------------------- */

/* The bounds of the fields keep the products far within 64 bits. */
static size_t row_values(const struct ingot_layer *l)
{
    return round_up((l->conv_taps - 1u) * recurrent_channels(l), ALIGN_VALUES);
}

static size_t n_values(const struct ingot_layer *l)
{
    return row_values(l) + round_up((size_t)l->state_dim * l->inner_dim, ALIGN_VALUES);
}

size_t recurrent_bytes(const struct ingot_layer *l)
{
    return n_values(l) * sizeof(float);
}

static size_t state_bytes(const struct ingot_layer *l)
{
    return round_up(sizeof(struct recurrent), ALIGN) + COPIES * recurrent_bytes(l);
}

/* Set the pointers to the rows and matrices of the current copy. */
static void point(struct recurrent *r, size_t rows)
{
    r->rows = r->now.values;
    r->matrices = r->now.values + rows;
}

static void state_open(struct layer_state *st, const struct ingot_layer *l)
{
    struct recurrent *r = st->self;
    float *values = (float *)(void *)((uint8_t *)st->self + round_up(sizeof *r, ALIGN));

    r->n_values = n_values(l);
    r->now.values = values;
    r->pass.values = values + r->n_values;
    for (size_t i = 0; i < N_KEPT; i++) {
        r->kept[i].values = values + (2 + i) * r->n_values;
    }
    point(r, row_values(l));
}

/* ---- copies --------------------------------------------------------------------------------- */

void recurrent_copy_part(const struct recurrent *r, size_t first, size_t last)
{
    if (r->wanted) {
        memcpy(r->pass.values + first, r->now.values + first, (last - first) * sizeof(float));
    }
}

void recurrent_touch(struct recurrent *r)
{
    r->touched = true;
    if (r->wanted) {
        r->pass.n = r->now.n;
    }
}

static void copy(const struct recurrent *r, struct recurrent_copy *to,
                 const struct recurrent_copy *from)
{
    memcpy(to->values, from->values, r->n_values * sizeof(float));
    to->n = from->n;
}

/* Swap the pointers of the state and its copy from before the pass. */
static void swap_pass(struct recurrent *r)
{
    struct recurrent_copy now = r->now;
    size_t rows = (size_t)(r->matrices - r->rows);

    r->now = r->pass;
    r->pass = now;
    r->pass.n = 0;
    point(r, rows);
}

/* ---- the table of operations ---------------------------------------------------------------- */

static void empty(struct recurrent *r)
{
    memset(r->now.values, 0, r->n_values * sizeof(float));
    r->now.n = 0;
}

/* Drop copies after more than n tokens, because those tokens no longer exist. */
static void forget_after(struct recurrent *r, uint32_t n)
{
    if (r->pass.n > n) {
        r->pass.n = 0;
    }
    for (size_t i = 0; i < N_KEPT; i++) {
        if (r->kept[i].n > n) {
            r->kept[i].n = 0;
        }
    }
}

static void state_clear(struct layer_state *st)
{
    struct recurrent *r = st->self;

    empty(r);
    forget_after(r, 0);
    r->touched = r->wanted = false;
}

static enum err state_enter(struct layer_state *st, uint32_t position)
{
    struct recurrent *r = st->self;

    r->now.n = position;
    r->touched = false;
    return ERR_OK;
}

static enum err state_leave(struct layer_state *st, uint32_t end)
{
    struct recurrent *r = st->self;

    r->now.n = end;
    r->touched = r->wanted = false;
    return ERR_OK;
}

/* Mark the state after n tokens. A turn's new mark replaces the turn's mark with the fewest tokens.
 * For LAYER_MARK_PASS, the cores copy the state when the next pass reaches the layer. */
static void state_mark(struct layer_state *st, uint32_t n, enum layer_mark mark)
{
    struct recurrent *r = st->self;
    struct recurrent_copy *to = &r->kept[0];

    if (mark == LAYER_MARK_PASS) {
        r->wanted = true;
        return;
    }
    r->now.n = n;
    if (mark == LAYER_MARK_PREFIX) {
        copy(r, &r->kept[RECURRENT_KEPT], &r->now);
        return;
    }
    for (size_t i = 0; i < RECURRENT_KEPT; i++) {
        if (r->kept[i].n == n) {
            return;
        }
        if (r->kept[i].n < to->n) {
            to = &r->kept[i];
        }
    }
    copy(r, to, &r->now);
}

static const struct recurrent_copy *longest_kept(const struct recurrent *r, uint32_t n)
{
    const struct recurrent_copy *best = &r->kept[0];

    for (size_t i = 1; i < N_KEPT; i++) {
        if (r->kept[i].n <= n && (r->kept[i].n > best->n || best->n > n)) {
            best = &r->kept[i];
        }
    }
    return best;
}

static void go_back(struct recurrent *r, uint32_t n)
{
    const struct recurrent_copy *kept = longest_kept(r, n);

    if (r->pass.n != 0 && r->pass.n <= n && (kept->n > n || kept->n <= r->pass.n)) {
        swap_pass(r);
    } else if (kept->n != 0 && kept->n <= n) {
        copy(r, &r->now, kept);
    } else {
        empty(r);
    }
}

static uint32_t state_cut(struct layer_state *st, uint32_t n)
{
    struct recurrent *r = st->self;

    if (n == 0) {
        empty(r);
    } else if (r->touched || r->now.n > n) {
        go_back(r, n);
    }
    r->touched = false;
    forget_after(r, n);
    return r->now.n;
}

static enum err state_move(struct layer_state *st, uint32_t n, const struct layer_state_io *io)
{
    struct recurrent *r = st->self;
    enum err e = ERR_OK;

    if (n != 0) {
        e = io->move(io->context, r->now.values, r->n_values * sizeof(float));
    }
    if (e == ERR_OK && io->loads && !io->discards) {
        r->now.n = n;
    }
    return e;
}

const struct layer_state_kind state_recurrent = {
    .name = "recurrent",
    .bytes = state_bytes,
    .open = state_open,
    .clear = state_clear,
    .enter = state_enter,
    .leave = state_leave,
    .mark = state_mark,
    .cut = state_cut,
    .move = state_move,
};
