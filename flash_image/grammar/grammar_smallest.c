/* An automaton with one way for each byte (subset construction), then with the fewest states (Moore:
 * states are alike until something tells them apart). */
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/grammar_private.h"

enum { STATES_MOST = 8192, CALLS_MOST = 48 };

struct call_out {
    int32_t part;
    uint32_t low, high, to;
};

/* A state of the result: where each byte leads (NOWHERE: nowhere), and its calls. */
struct wide_state {
    uint16_t next[256];
    struct call_out calls[CALLS_MOST];
    uint32_t n_calls;
    bool accepts;
    uint32_t set, n_set; /* of the states that it stands for */
};
#define NOWHERE UINT16_MAX

struct work {
    const struct automaton *from;
    struct wide_state *states;
    uint32_t n, room;
    uint32_t *sets; /* ascending states, set after set */
    uint32_t n_sets, sets_room;
    uint32_t *stack;
    uint8_t *in; /* (from->n_states) */
    bool full;
};

static bool room_for_set(struct work *w, uint32_t n)
{
    if (w->n_sets + n > w->sets_room) {
        uint32_t room = 2 * (w->n_sets + n);
        uint32_t *grown = room <= 1u << 26 ? realloc(w->sets, room * sizeof *grown) : NULL;

        if (grown == NULL) {
            w->full = true;
            return false;
        }
        w->sets = grown;
        w->sets_room = room;
    }
    return true;
}

/* Of the marked states and all that they reach without a byte, the state of the result, NOWHERE: of none.
 * The marks are gone. */
static uint32_t state_of_marks(struct work *w)
{
    const struct automaton *a = w->from;
    uint32_t n = 0, top = 0, at;

    for (uint32_t i = 0; i < a->n_states; i++) {
        if (w->in[i]) {
            w->stack[top++] = i;
        }
    }
    while (top != 0) {
        const struct state *s = &a->states[w->stack[--top]];

        for (uint32_t i = s->edges; i < s->edges + s->n_edges; i++) {
            if (a->edges[i].part == -2 && !w->in[a->edges[i].to]) {
                w->in[a->edges[i].to] = 1;
                w->stack[top++] = a->edges[i].to;
            }
        }
    }
    if (!room_for_set(w, a->n_states)) {
        return NOWHERE;
    }
    for (uint32_t i = 0; i < a->n_states; i++) {
        if (w->in[i]) {
            w->sets[w->n_sets + n++] = i;
            w->in[i] = 0;
        }
    }
    if (n == 0) {
        return NOWHERE;
    }
    for (at = 0; at < w->n; at++) {
        if (w->states[at].n_set == n &&
            memcmp(&w->sets[w->states[at].set], &w->sets[w->n_sets], n * sizeof *w->sets) == 0) {
            return at;
        }
    }
    if (w->n == STATES_MOST) {
        w->full = true;
        return NOWHERE;
    }
    if (w->n == w->room) {
        uint32_t room = w->room == 0 ? 64 : 2 * w->room;
        struct wide_state *grown = realloc(w->states, room * sizeof *grown);

        if (grown == NULL) {
            w->full = true;
            return NOWHERE;
        }
        w->states = grown;
        w->room = room;
    }
    memset(&w->states[at], 0, sizeof w->states[at]);
    w->states[at].set = w->n_sets;
    w->states[at].n_set = n;
    w->n_sets += n;
    w->n++;
    return at;
}

/* Whether an edge of a set's state takes the byte or makes the call. */
static bool takes(const struct edge *e, const struct call_out *c, uint32_t byte)
{
    if (c == NULL) {
        return e->part == -1 && e->low <= byte && byte <= e->high;
    }
    return e->part == c->part && e->low == c->low && e->high == c->high;
}

static uint32_t follow(struct work *w, uint32_t at, const struct call_out *c, uint32_t byte)
{
    const struct automaton *a = w->from;

    for (uint32_t i = 0; i < w->states[at].n_set; i++) {
        const struct state *s = &a->states[w->sets[w->states[at].set + i]];

        for (uint32_t j = s->edges; j < s->edges + s->n_edges; j++) {
            if (takes(&a->edges[j], c, byte)) {
                w->in[a->edges[j].to] = 1;
            }
        }
    }
    return state_of_marks(w);
}

static void add_call(struct work *w, uint32_t at, const struct edge *e)
{
    struct wide_state *s = &w->states[at];

    for (uint32_t i = 0; i < s->n_calls; i++) {
        if (takes(e, &s->calls[i], 0)) {
            return;
        }
    }
    if (s->n_calls == CALLS_MOST) {
        w->full = true;
        return;
    }
    s->calls[s->n_calls++] = (struct call_out){ e->part, e->low, e->high, 0 };
}

/* The bytes at which an edge of the set begins or ends: between two of them all lead to the same. */
static void collect(struct work *w, uint32_t at, bool cuts[257])
{
    const struct automaton *a = w->from;

    memset(cuts, 0, 257);
    cuts[0] = true;
    for (uint32_t i = 0; i < w->states[at].n_set; i++) {
        const struct state *s = &a->states[w->sets[w->states[at].set + i]];

        w->states[at].accepts |= s->accepts;
        for (uint32_t j = s->edges; j < s->edges + s->n_edges; j++) {
            const struct edge *e = &a->edges[j];

            if (e->part >= 0) {
                add_call(w, at, e);
            } else if (e->part == -1) {
                cuts[e->low] = cuts[e->high + 1] = true;
            }
        }
    }
}

static void expand(struct work *w, uint32_t at)
{
    uint32_t to = NOWHERE;
    bool cuts[257];

    collect(w, at, cuts);
    for (uint32_t byte = 0; byte < 256 && !w->full; byte++) {
        if (cuts[byte]) {
            to = follow(w, at, NULL, byte);
        }
        w->states[at].next[byte] = (uint16_t)to;
    }
    for (uint32_t i = 0; i < w->states[at].n_calls && !w->full; i++) {
        struct call_out c = w->states[at].calls[i];

        to = follow(w, at, &c, 0);
        w->states[at].calls[i].to = to;
    }
}

/* ---- fewest states -------------------------------------------------------------------------- */

static bool are_alike(const struct work *w, const uint16_t *group, uint32_t a, uint32_t b)
{
    const struct wide_state *x = &w->states[a], *y = &w->states[b];

    if (group[a] != group[b] || x->accepts != y->accepts || x->n_calls != y->n_calls) {
        return false;
    }
    for (unsigned i = 0; i < 256; i++) {
        uint16_t p = x->next[i], q = y->next[i];

        if ((p == NOWHERE) != (q == NOWHERE) || (p != NOWHERE && group[p] != group[q])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < x->n_calls; i++) {
        const struct call_out *p = &x->calls[i], *q = &y->calls[i];

        if (p->part != q->part || p->low != q->low || p->high != q->high ||
            group[p->to] != group[q->to]) {
            return false;
        }
    }
    return true;
}

/* group[i]: the number of the states that are like i; first[g]: one of group g. Returns how many. */
static uint32_t find_groups(const struct work *w, uint16_t *group, uint16_t *next, uint16_t *first)
{
    uint32_t n = 1, before = 0;

    memset(group, 0, w->n * sizeof *group);
    while (n != before) {
        before = n;
        n = 0;
        for (uint32_t i = 0; i < w->n; i++) {
            uint32_t g = 0;

            while (g < n && !are_alike(w, group, i, first[g])) {
                g++;
            }
            next[i] = (uint16_t)g;
            if (g == n) {
                first[n++] = (uint16_t)i;
            }
        }
        memcpy(group, next, w->n * sizeof *group);
    }
    return n;
}

static void write_state(const struct work *w, const uint16_t *group, uint32_t at, uint32_t g,
                        struct automaton *out)
{
    const struct wide_state *s = &w->states[at];

    out->states[g].accepts = s->accepts;
    for (uint32_t low = 0; low < 256;) {
        uint32_t high = low, to = s->next[low];

        while (high < 255 && (s->next[high + 1] == NOWHERE) == (to == NOWHERE) &&
               (to == NOWHERE || group[s->next[high + 1]] == group[to])) {
            high++;
        }
        if (to != NOWHERE) {
            automaton_edge(out, g, (struct edge){ group[to], -1, low, high });
        }
        low = high + 1;
    }
    for (uint32_t i = 0; i < s->n_calls; i++) {
        const struct call_out *c = &s->calls[i];

        automaton_edge(out, g, (struct edge){ group[c->to], c->part, c->low, c->high });
    }
}

static void write_smallest(struct work *w, struct automaton *out)
{
    uint16_t *group = malloc(3 * w->n * sizeof *group);
    uint32_t n;

    if (group == NULL) {
        w->full = true;
        return;
    }
    n = find_groups(w, group, group + w->n, group + 2 * w->n);
    for (uint32_t g = 0; g < n; g++) {
        (void)automaton_state(out);
    }
    for (uint32_t g = 0; g < n && !out->full; g++) { /* the start is the first of group 0 */
        write_state(w, group, group[2 * w->n + g], g, out);
    }
    free(group);
}

bool automaton_determinize(const struct automaton *a, struct automaton *out)
{
    struct work w = { .from = a, .full = a->full };

    *out = (struct automaton){ 0 };
    w.stack = malloc((a->n_states + 1) * sizeof *w.stack);
    w.in = calloc(a->n_states + 1, 1);
    if (w.stack == NULL || w.in == NULL) {
        w.full = true;
    }
    if (!w.full) {
        w.in[0] = 1;
        (void)state_of_marks(&w);
    }
    for (uint32_t i = 0; i < w.n && !w.full; i++) {
        expand(&w, i);
    }
    if (!w.full) {
        write_smallest(&w, out);
    }
    free(w.states);
    free(w.sets);
    free(w.stack);
    free(w.in);
    return !w.full && !out->full;
}
