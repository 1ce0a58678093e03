#include "runtime/session/session_prefix.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/session/session.h"

void session_keep_prefix(struct session *s, struct session_prefix *p)
{
    p->n = 0;
    p->wanted = 0;
    p->lost = 0;
    p->held = false;
    s->prefix = p;
}

/* Return true if a state can only return to its marks. */
static bool has_marks(const struct session *s)
{
    for (uint32_t i = 0; i < s->n_states; i++) {
        if (s->states[i].kind->mark != NULL) {
            return true;
        }
    }
    return false;
}

static uint32_t common(const uint32_t *a, const uint32_t *b, uint32_t n)
{
    uint32_t i = 0;

    while (i < n && a[i] == b[i]) {
        i++;
    }
    return i;
}

/* Make the first n tokens of the sequence, which are in the states, the prefix; states with marks
 * are exactly at n. */
static void establish(struct session *s, uint32_t n)
{
    struct session_prefix *p = s->prefix;

    memcpy(p->ids, s->ids, n * sizeof *p->ids);
    p->n = n;
    p->wanted = 0;
    p->held = false;
    for (uint32_t i = 0; i < s->n_states; i++) {
        layer_state_mark(&s->states[i], n, LAYER_MARK_PREFIX);
    }
}

void session_forget_prefix(struct session *s)
{
    struct session_prefix *p = s->prefix;

    if (p == NULL) {
        return;
    }
    if (p->held) {
        p->held = false;
        (void)session_cut_states(s, 0);
    }
    p->n = 0;
    p->wanted = 0;
}

void session_want_prefix(struct session *s, const uint32_t *ids, size_t n)
{
    struct session_prefix *p = s->prefix;
    uint32_t most = min_u32(s->n_ids - (s->n_ids != 0), SESSION_PREFIX_TOKENS);
    uint32_t wanted = common(ids, s->ids, (uint32_t)min_size(n, most));

    if (p == NULL) {
        return;
    }
    session_prefix_settle(s);
    if (wanted <= p->n || (has_marks(s) && wanted < p->n + SESSION_PREFIX_LEAST)) {
        return;
    }
    p->n = 0;
    p->wanted = wanted;
    session_prefix_reached(s);
}

void session_make_prefix(struct session *s)
{
    uint32_t n = s->n_cached;

    if (n != 0 && n <= SESSION_PREFIX_TOKENS) {
        establish(s, n);
    }
}

bool session_take_prefix(struct session *s, const uint32_t *ids, uint32_t n)
{
    struct session_prefix *p = s->prefix;

    if (p == NULL || !p->held || s->n_ids != 0 || p->n != n || common(p->ids, ids, n) != n) {
        return false;
    }
    memcpy(s->ids, ids, n * sizeof *ids);
    s->n_ids = n;
    s->n_cached = n;
    p->held = false;
    return true;
}

bool session_prefix_hold(struct session *s, uint32_t n)
{
    struct session_prefix *p = s->prefix;

    if (p == NULL) {
        return false;
    }
    if (n < p->wanted) {
        p->wanted = 0;
    }
    if (n >= p->n) {
        return p->held; /* a held prefix stays in the states */
    }
    if (!p->held && session_cut_states(s, p->n) < p->n) { /* pages on the card were lost */
        p->n = 0;
        return false;
    }
    p->held = true;
    s->n_cached = 0;
    return true;
}

void session_prefix_adopt(struct session *s)
{
    struct session_prefix *p = s->prefix;

    if (p != NULL && p->held && s->n_ids > p->n && common(p->ids, s->ids, p->n) == p->n) {
        p->held = false;
        s->n_cached = p->n;
    }
}

/* Another text shares at most a part of the prefix; states without marks keep this part. */
void session_prefix_settle(struct session *s)
{
    struct session_prefix *p = s->prefix;
    uint32_t n;

    if (p == NULL) {
        return;
    }
    session_prefix_adopt(s);
    if (!p->held && s->n_cached >= p->n) {
        return;
    }
    n = p->held ? common(p->ids, s->ids, min_u32(p->n, s->n_ids - (s->n_ids != 0))) : s->n_cached;
    p->n = 0;
    p->held = false;
    (void)session_cut_states(s, n);
}

void session_prefix_again(struct session *s)
{
    struct session_prefix *p = s->prefix;

    if (p != NULL) {
        p->wanted = max_u32(p->wanted, p->n);
        p->n = 0;
    }
}

uint32_t session_prefix_limit(const struct session *s, uint32_t n)
{
    const struct session_prefix *p = s->prefix;

    if (p == NULL || p->wanted <= s->n_cached || !has_marks(s)) {
        return n;
    }
    return min_u32(n, p->wanted - s->n_cached);
}

void session_prefix_reached(struct session *s)
{
    struct session_prefix *p = s->prefix;

    if (p == NULL || p->wanted == 0 || s->n_cached < p->wanted) {
        return;
    }
    if (s->n_cached == p->wanted || !has_marks(s)) {
        establish(s, p->wanted);
    }
    p->wanted = 0;
}

void session_prefix_lose(struct session *s)
{
    struct session_prefix *p = s->prefix;

    if (p != NULL) {
        p->lost = p->n;
        p->n = 0;
        p->wanted = 0;
        p->held = false;
    }
}

void session_prefix_find_again(struct session *s)
{
    struct session_prefix *p = s->prefix;

    if (p == NULL) {
        return;
    }
    if (p->lost <= s->n_cached && !has_marks(s) && common(p->ids, s->ids, p->lost) == p->lost) {
        p->n = p->lost;
    }
    p->lost = 0;
}
