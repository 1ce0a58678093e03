/* The state of one layer for a sequence: keys and values for attention, a matrix or some
 * rows for a recurrent mixer. Every kind has a table of the same operations. A session owns the
 * states and knows how many tokens are in them; only the session cuts, saves and loads them. Core 0
 * only, outside workers_run. */
#ifndef INGOT_RUNTIME_LAYER_STATE_H
#define INGOT_RUNTIME_LAYER_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "flash_image/format/format.h"

struct layer_state_kind;

struct layer_state {
    const struct layer_state_kind *kind;
    uint32_t layer;
    void *self; /* the kind's own data: shared by all layers, or this layer's memory */
};

/* The file to or from which a state moves. Saving and loading make the same calls in the same
 * order. */
struct layer_state_io {
    enum err (*move)(void *context, void *memory, size_t bytes);
    void *context;
    bool loads;    /* bytes go into memory */
    bool discards; /* only with `loads`: bytes are read and dropped; memory does not change */
};

enum layer_mark {
    LAYER_MARK_PASS,   /* to undo the pass that begins; valid until the next mark */
    LAYER_MARK_KEPT,   /* for a turn that begins here; the latest few are kept */
    LAYER_MARK_PREFIX, /* the common beginning of sequences ends here: kept until the next such
                        * mark, or a cut before it */
};

struct layer_state_kind {
    const char *name;

    /* Bytes of memory that each state needs; the memory is 64-byte aligned, zeroed and passed as
     * `self`. 0 or NULL: the kind has its own `self`. */
    size_t (*bytes)(const struct ingot_layer *l);

    /* Prepare the memory. NULL if no preparation is needed. */
    void (*open)(struct layer_state *st, const struct ingot_layer *l);

    /* Make the sequence empty. */
    void (*clear)(struct layer_state *st);

    /* Called when a pass over tokens from `position` on begins: the kind may request data for the
     * layer. NULL if the kind needs no data. */
    void (*begin)(struct layer_state *st, uint32_t position);

    /* Called when the pass reaches the layer: wait until the state can be read, and written from
     * `position` on. Errors: those of the device to which the state spills. NULL: always ready. */
    enum err (*enter)(struct layer_state *st, uint32_t position);

    /* Called when the layer is computed, and `end` tokens are in the state. Errors as for enter.
     * NULL: nothing to do. */
    enum err (*leave)(struct layer_state *st, uint32_t end);

    /* Remember the state, which holds n tokens, so that `cut` can return to it. NULL if `cut` can
     * return to any number of tokens. */
    void (*mark)(struct layer_state *st, uint32_t n, enum layer_mark mark);

    /* Go back to n tokens or fewer, and return how many: the nearest mark at or before n, 0
     * without one. The session computes the tokens in between again. */
    uint32_t (*cut)(struct layer_state *st, uint32_t n);

    /* Move the whole state after n tokens, for saving and loading. Errors of io->move. */
    enum err (*move)(struct layer_state *st, uint32_t n, const struct layer_state_io *io);
};

static inline void layer_state_begin(struct layer_state *st, uint32_t position)
{
    if (st->kind->begin != NULL) {
        st->kind->begin(st, position);
    }
}

static inline enum err layer_state_enter(struct layer_state *st, uint32_t position)
{
    if (st->kind->enter == NULL) {
        return ERR_OK;
    }
    return st->kind->enter(st, position);
}

static inline enum err layer_state_leave(struct layer_state *st, uint32_t end)
{
    if (st->kind->leave == NULL) {
        return ERR_OK;
    }
    return st->kind->leave(st, end);
}

static inline void layer_state_mark(struct layer_state *st, uint32_t n, enum layer_mark mark)
{
    if (st->kind->mark != NULL) {
        st->kind->mark(st, n, mark);
    }
}

#endif
