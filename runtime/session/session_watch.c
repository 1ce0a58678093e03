#include "runtime/session/session_watch.h"

#include "board/min_max.h"
#include "runtime/session/session.h"

uint32_t session_watch_limit(const struct session *s, uint32_t n)
{
    if (s->watch == NULL || s->watch->step == 0) {
        return n;
    }
    return min_u32(n, s->watch->step - s->n_cached % s->watch->step);
}

void session_watch_passed(struct session *s)
{
    if (s->follower != NULL) {
        s->follower->passed(s->follower->context, s);
    }
    if (s->watch != NULL) {
        s->watch->passed(s->watch->context, s);
    }
}
