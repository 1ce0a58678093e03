#include "runtime/session/session_block.h"

#include <assert.h>

#include "runtime/model/state_kv.h"
#include "runtime/session/session.h"

const char *session_block_error_message(const struct session *s)
{
    if (s->kv.pages != NULL) {
        return "its keys and values spill to a card";
    }
    if (s->kv.types.hot_tiles != 0) {
        return "its keys and values change their type with age (kv=)";
    }
    if (s->long_context != 0) {
        return "its keys depend on the length of the text (LongRoPE)";
    }
    return NULL;
}

bool session_block_has_marks(const struct session *s)
{
    for (uint32_t i = 0; i < s->n_states; i++) {
        if (s->states[i].kind->mark != NULL) {
            return true;
        }
    }
    return false;
}

uint32_t session_block_ready(struct session *s)
{
    session_forget_guesses(s);
    session_prefix_settle(s);
    return s->n_cached;
}

enum err session_block_move_keys(struct session *s, uint32_t first, uint32_t end,
                                 const struct layer_state_io *io)
{
    enum err e = ERR_OK;

    for (uint32_t i = 0; i < s->n_states && e == ERR_OK; i++) {
        struct layer_state *st = &s->states[i];

        if (st->kind == &state_kv) {
            e = state_kv_move_part(st, first, end, io);
        }
    }
    return e;
}

enum err session_block_move_marks(struct session *s, uint32_t n, const struct layer_state_io *io)
{
    enum err e = ERR_OK;

    for (uint32_t i = 0; i < s->n_states && e == ERR_OK; i++) {
        struct layer_state *st = &s->states[i];

        if (st->kind->mark != NULL) {
            e = st->kind->move(st, n, io);
        }
    }
    return e;
}

void session_block_take(struct session *s, uint32_t n)
{
    assert(n < s->n_ids && s->n_ahead == 0);
    s->n_cached = n;
    s->logits = NULL;
}
