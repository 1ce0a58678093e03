#include "runtime/session/session_drop.h"

#include <assert.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/model/kv_drop.h"
#include "runtime/session/session.h"

const char *session_drop_error_message(const struct session *s)
{
    for (uint32_t i = 0; i < s->n_states; i++) {
        if (s->states[i].kind->mark != NULL) {
            return "its recurrent layers cannot drop tokens";
        }
    }
    return kv_drop_error_message(&s->model->image, &s->kv);
}

void session_drop(struct session *s, uint32_t from, uint32_t n)
{
    uint32_t exact = min_u32(s->n_exact, from);

    assert(from % KV_TILE == 0 && n % KV_TILE == 0 && from + n <= s->n_ids);
    session_forget_guesses(s);
    session_prefix_settle(s);
    if (s->prefix != NULL && (s->prefix->n > from || s->prefix->wanted > from)) {
        session_forget_prefix(s);
    }
    if (s->n_cached >= from + n) {
        kv_cache_write(&s->kv, from, s->n_cached);
        kv_drop(&s->model->transformer, &s->kv, from, n, s->n_cached, s->is_long);
        (void)session_cut_states(s, s->n_cached - n);
        s->n_exact = exact; /* the later tokens have attended to the dropped tokens */
    } else {
        (void)session_cut_states(s, min_u32(s->n_cached, from));
    }
    s->n_ids -= n;
    memmove(s->ids + from, s->ids + from + n, (s->n_ids - from) * sizeof *s->ids);
}
