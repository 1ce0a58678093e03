/* The state of one layer for a sequence is keys and values for attention, and some rows, with or
 * without matrices, for a recurrent mixer. Every kind has a table of the same operations. A session
 * owns the states and knows how many tokens are in them; the session cuts, saves and loads them.
 * Only core 0 calls these operations, outside workers_run. */
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
    void *self; /* the kind's own data, or this layer's memory */
};

/* Moves a state to or from a file. Saving and loading make the same calls in the same
 * order. */
struct layer_state_io {
    enum err (*move)(void *context, void *memory, size_t bytes);
    void *context;
    bool loads;    /* bytes move from the file to memory */
    bool discards; /* with `loads`, bytes are read and dropped, and memory does not change */
};

enum layer_mark {
    LAYER_MARK_PASS,   /* lets the pass that now begins be undone; valid until the next mark */
    LAYER_MARK_KEPT,   /* marks the beginning of a turn; the latest few are kept */
    LAYER_MARK_PREFIX, /* marks the end of sequences' common beginning, until the next such mark or
                        * a cut before it */
};

struct layer_state_kind {
    const char *name;

    /* Returns the bytes of memory that a state needs, 64-byte aligned and zeroed, as `self`. If the
     * function is NULL or returns 0, the kind has its own `self`. */
    size_t (*bytes)(const struct ingot_layer *l);

    /* Prepare the memory. NULL if no preparation is needed. */
    void (*open)(struct layer_state *st, const struct ingot_layer *l);

    /* Make the sequence empty. */
    void (*clear)(struct layer_state *st);

    /* Called when a pass over tokens from `position` on begins. The kind may request data for the
     * layer. NULL if the kind needs no data. */
    void (*begin)(struct layer_state *st, uint32_t position);

    /* Called when the pass reaches the layer. Waits until the state can be read, and can be written
     * from `position` on. Errors: those of the device to which the state spills. NULL if the state
     * is always ready. */
    enum err (*enter)(struct layer_state *st, uint32_t position);

    /* Called after the layer was computed, when `end` tokens are in the state. Errors: those of
     * enter. NULL if the kind has nothing to do. */
    enum err (*leave)(struct layer_state *st, uint32_t end);

    /* Remember the state, which holds n tokens, so that `cut` can return to it. NULL if `cut` can
     * return to any number of tokens. */
    void (*mark)(struct layer_state *st, uint32_t n, enum layer_mark mark);

    /* Go back to the nearest mark at or before n tokens, or to 0, and return its number of tokens.
     * The session computes the tokens in between again. */
    uint32_t (*cut)(struct layer_state *st, uint32_t n);

    /* Save or load the whole state after n tokens. Errors of io->move. */
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
