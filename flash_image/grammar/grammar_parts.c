/* Trees into automata. A rule that calls itself is a part of its own; one that does not is laid out where it
 * is used, as long as that stays small, since what lies in one automaton is read in one way. So is a
 * repetition of many times. */
#include <stdlib.h>

#include "flash_image/grammar/grammar_private.h"
#include "runtime/text/utf8.h"

enum { UNROLL_MOST = 48 /* nodes of a repetition, times counted */ };

uint32_t automaton_state(struct automaton *a)
{
    if (a->n_states == a->states_room) {
        uint32_t room = a->states_room == 0 ? 64 : 2 * a->states_room;
        struct state *grown = a->full ? NULL : realloc(a->states, room * sizeof *grown);

        if (grown == NULL || room > 1u << 20) {
            a->states = grown != NULL ? grown : a->states;
            a->full = true;
            return 0;
        }
        a->states = grown;
        a->states_room = room;
    }
    a->states[a->n_states] = (struct state){ 0 };
    return a->n_states++;
}

/* A state's edges lie side by side; when they outgrow their room they move to the end. */
void automaton_edge(struct automaton *a, uint32_t from, struct edge e)
{
    struct state *s = &a->states[from];

    if (a->full) {
        return;
    }
    if (s->n_edges == s->room) {
        uint32_t room = s->room == 0 ? 2 : 2 * s->room, need = a->n_edges + room;

        if (need > a->edges_room) {
            uint32_t all = need > 2 * a->edges_room ? need : 2 * a->edges_room;
            struct edge *grown = all <= 1u << 22 ? realloc(a->edges, all * sizeof *grown) : NULL;

            if (grown == NULL) {
                a->full = true;
                return;
            }
            a->edges = grown;
            a->edges_room = all;
        }
        for (uint32_t i = 0; i < s->n_edges; i++) {
            a->edges[a->n_edges + i] = a->edges[s->edges + i];
        }
        s->edges = a->n_edges;
        s->room = room;
        a->n_edges += room;
    }
    a->edges[s->edges + s->n_edges++] = e;
}

void automaton_free(struct automaton *a)
{
    free(a->states);
    free(a->edges);
    *a = (struct automaton){ 0 };
}

static void skip(struct automaton *a, uint32_t from, uint32_t to)
{
    automaton_edge(a, from, (struct edge){ .to = to, .part = -2 });
}

static uint32_t part_of(struct part_list *parts, uint32_t node, uint32_t rule)
{
    for (uint32_t i = 0; i < parts->n; i++) {
        if (parts->parts[i].node == node && parts->parts[i].rule == rule) {
            return i;
        }
    }
    if (parts->n == parts->room) {
        uint32_t room = parts->room == 0 ? 32 : 2 * parts->room;
        struct part *grown = realloc(parts->parts, room * sizeof *grown);

        if (grown == NULL) {
            return UINT32_MAX;
        }
        parts->parts = grown;
        parts->room = room;
    }
    parts->parts[parts->n] = (struct part){ node, rule, 0 };
    return parts->n++;
}

struct maker {
    const struct grammar_tree *t;
    struct automaton *a;
    struct part_list *parts;
};

static void make(struct maker *m, uint32_t node, uint32_t from, uint32_t to);

static void call(struct maker *m, uint32_t node, uint32_t rule, uint32_t low, uint32_t high,
                 uint32_t from, uint32_t to)
{
    uint32_t part = part_of(m->parts, node, rule);

    if (part == UINT32_MAX) {
        m->a->full = true;
        return;
    }
    automaton_edge(m->a, from, (struct edge){ to, (int32_t)part, low, high });
}

/* What is empty is nothing when it is repeated, so that a call may take its emptiness for no call. */
static void make_times(struct maker *m, const struct node *n, uint32_t from, uint32_t to)
{
    bool empty = grammar_may_be_empty(m->t, n->left);
    uint32_t low = empty ? 0 : n->low, size = grammar_size(m->t, n->left), at = from, next;
    uint64_t times = n->high == GRAMMAR_NO_END ? low : n->high;

    if (times * size > UNROLL_MOST && times > 2 && !empty) {
        if (n->high == GRAMMAR_NO_END) {
            next = automaton_state(m->a);
            call(m, n->left, UINT32_MAX, low, low, from, next);
            at = next;
            low = 0;
        } else {
            call(m, n->left, UINT32_MAX, low, n->high, from, to);
            return;
        }
    }
    for (uint32_t i = 0; i < low && !m->a->full; i++, at = next) {
        next = automaton_state(m->a);
        make(m, n->left, at, next);
    }
    if (n->high == GRAMMAR_NO_END) {
        next = automaton_state(m->a);
        skip(m->a, at, next);
        make(m, n->left, next, next);
        skip(m->a, next, to);
        return;
    }
    for (uint32_t i = low; i < n->high && !m->a->full; i++, at = next) {
        next = automaton_state(m->a);
        skip(m->a, at, to);
        make(m, n->left, at, next);
    }
    skip(m->a, at, to);
}

static void make(struct maker *m, uint32_t node, uint32_t from, uint32_t to)
{
    const struct node *n = &m->t->nodes[node];
    uint32_t middle;

    if (m->a->full) {
        return;
    }
    switch (n->kind) {
    case NODE_EMPTY: skip(m->a, from, to); break;
    case NODE_RANGE: automaton_characters(m->a, from, to, n->low, n->high); break;
    case NODE_PAIR:
        middle = automaton_state(m->a);
        make(m, n->left, from, middle);
        make(m, n->right, middle, to);
        break;
    case NODE_EITHER:
        make(m, n->left, from, to);
        make(m, n->right, from, to);
        break;
    case NODE_TIMES: make_times(m, n, from, to); break;
    case NODE_RULE:
        if (grammar_goes_inline(m->t, n->low)) {
            make(m, m->t->rules[n->low].body, from, to);
        } else {
            call(m, m->t->rules[n->low].body, n->low, 1, 1, from, to);
        }
        break;
    }
}

void grammar_make_part(const struct grammar_tree *t, uint32_t node, struct automaton *a,
                       struct part_list *parts)
{
    struct maker m = { t, a, parts };
    uint32_t start = automaton_state(a), end = automaton_state(a);

    make(&m, node, start, end);
    if (!a->full) {
        a->states[end].accepts = true;
    }
}

/* ---- characters as bytes -------------------------------------------------------------------- */

static void byte_edge(struct automaton *a, uint32_t from, uint32_t to, uint32_t low, uint32_t high)
{
    automaton_edge(a, from, (struct edge){ to, -1, low, high });
}

/* n bytes of which the first k are equal, and those after it go from all-lowest to all-highest, or one of
 * them alone differs: what a range is cut into. */
static void bytes_between(struct automaton *a, uint32_t from, uint32_t to, const uint8_t *low,
                          const uint8_t *high, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        uint32_t next = i + 1 == n ? to : automaton_state(a);

        byte_edge(a, from, next, low[i], high[i]);
        from = next;
    }
}

static unsigned encode(uint32_t code, uint8_t out[4])
{
    return (unsigned)utf8_encode((char *)out, code);
}

/* low and high have the same number of bytes. Of a byte that differs all that follow must be free: else
 * the range is cut there. */
static void same_length(struct automaton *a, uint32_t from, uint32_t to, uint32_t low,
                        uint32_t high)
{
    uint8_t x[4], y[4];
    unsigned n = encode(low, x);

    (void)encode(high, y);
    for (unsigned i = 1; i < n; i++) {
        uint32_t mask = (1u << 6 * (n - i)) - 1;

        if ((low & ~mask) != (high & ~mask)) {
            if ((low & mask) != 0) {
                same_length(a, from, to, low, low | mask);
                same_length(a, from, to, (low | mask) + 1, high);
                return;
            }
            if ((high & mask) != mask) {
                same_length(a, from, to, low, (high & ~mask) - 1);
                same_length(a, from, to, high & ~mask, high);
                return;
            }
        }
    }
    bytes_between(a, from, to, x, y, n);
}

void automaton_characters(struct automaton *a, uint32_t from, uint32_t to, uint32_t low,
                          uint32_t high)
{
    static const uint32_t borders[][2] = {
        { 0, 0x7f }, { 0x80, 0x7ff }, { 0x800, 0xd7ff }, { 0xe000, 0xffff }, { 0x10000, 0x10ffff }
    };

    for (unsigned i = 0; i < sizeof borders / sizeof borders[0] && !a->full; i++) {
        uint32_t first = low > borders[i][0] ? low : borders[i][0];
        uint32_t last = high < borders[i][1] ? high : borders[i][1];

        if (first <= last) {
            same_length(a, from, to, first, last);
        }
    }
}
