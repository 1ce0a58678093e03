#include "runtime/session/session_rope.h"

#include "board/min_max.h"
#include "runtime/session/session.h"

#define BY_LENGTH 0x4c4f4e47u /* any number except 0 */

bool session_rope_is_long(const struct session *s)
{
    return s->long_context != 0 && s->n_ids > s->long_context;
}

void session_rope_settle(struct session *s)
{
    bool is_long = session_rope_is_long(s);

    if (s->n_ids == 0 || s->is_long == is_long) {
        return;
    }
    session_prefix_settle(s); /* now the states have no tokens of another sequence */
    session_prefix_again(s);
    (void)session_cut_states(s, 0);
    s->logits = NULL;
    s->is_long = is_long;
}

uint32_t session_rope_limit(const struct session *s, uint32_t n)
{
    if (s->long_context == 0 || session_rope_is_long(s)) {
        return n;
    }
    return min_u32(n, s->long_context - s->n_ids);
}

uint32_t session_rope_crc(const struct session *s)
{
    return s->long_context != 0 ? BY_LENGTH : 0;
}
