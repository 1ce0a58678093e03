#include "runtime/model/state_none.h"

static void none_clear(struct layer_state *st)
{
    (void)st;
}

static uint32_t none_cut(struct layer_state *st, uint32_t n)
{
    (void)st;
    return n;
}

static enum err none_move(struct layer_state *st, uint32_t n, const struct layer_state_io *io)
{
    (void)st, (void)n, (void)io;
    return ERR_OK;
}

const struct layer_state_kind state_none = {
    .name = "none",
    .clear = none_clear,
    .cut = none_cut,
    .move = none_move,
};
