/* Makes automata from trees. A rule that calls itself becomes a separate part. Other rules are
 * inlined where they are used if the result stays small, because text within one automaton needs no
 * stack. A long repetition also becomes a separate part. */
#include <stdlib.h>

#include "flash_image/grammar/grammar_private.h"
#include "runtime/text/utf8.h"

enum {
    UNROLL_MOST = 48, /* limit on the nodes of all copies of a repetition's item */
    STATES_MOST = 1 << 18,
    EDGES_MOST = 1 << 20,
};

bool grammar_spend(struct grammar_budget *b, size_t steps)
{
    if (b->spent || steps > GRAMMAR_STEPS_MOST - b->steps) {
        b->spent = true;
        return false;
    }
    b->steps += (uint32_t)steps;
    return true;
}

uint32_t automaton_state(struct automaton *a)
{
    a->full = a->full || !grammar_spend(a->budget, 1);
    if (a->n_states == a->states_room) {
        uint32_t room = a->states_room == 0 ? 64 : 2 * a->states_room;
        struct state *grown = a->full || room > STATES_MOST
                                  ? NULL
                                  : realloc(a->states, room * sizeof *grown);

        if (grown == NULL) {
            a->full = true;
            return 0;
        }
        a->states = grown;
        a->states_room = room;
    }
    a->states[a->n_states] = (struct state){ 0 };
    return a->n_states++;
}

/* Add an edge. A state's edges are contiguous; when they outgrow their space, they move to the
 * end. */
void automaton_edge(struct automaton *a, uint32_t from, struct edge e)
{
    struct state *s = &a->states[from];

    if (a->full || !grammar_spend(a->budget, 1)) {
        a->full = true;
        return;
    }
    if (s->n_edges == s->room) {
        uint32_t room = s->room == 0 ? 2 : 2 * s->room, need = a->n_edges + room;

        if (need > a->edges_room) {
            uint32_t all = need > 2 * a->edges_room ? need : 2 * a->edges_room;
            struct edge *grown = all <= EDGES_MOST ? realloc(a->edges, all * sizeof *grown) : NULL;

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
        struct part *grown = room <= 2 * GRAMMAR_PARTS_MOST
                                 ? realloc(parts->parts, room * sizeof *grown)
                                 : NULL;

        if (grown == NULL) {
            return UINT32_MAX;
        }
        parts->parts = grown;
        parts->room = room;
    }
    parts->parts[parts->n] = (struct part){ node, rule, 0 };
    return parts->n++;
}

/* An item of a sequence, or an alternative, that is not the first one. */
struct rest {
    uint32_t node, from, to;
};

/* A copy of a rule whose `joins` is set: the state where it starts, and the state after it. */
struct join {
    uint32_t rule, start, to;
};

struct maker {
    const struct grammar_tree *t;
    struct automaton *a;
    struct part_list *parts;
    struct rest *rests; /* rests of all sequences in progress */
    uint32_t n_rests, room;
    struct join *joins;
    uint32_t n_joins, joins_room;
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

static uint64_t times_of(uint32_t low, uint32_t high)
{
    return high == GRAMMAR_NO_END ? low : high;
}

/* Replace a repetition of a repetition, (item{0,h}){m,n}, by item{0,h * n}, which can be called.
 * Small repetitions stay unchanged. */
static struct node flat_times(const struct grammar_tree *t, const struct node *times)
{
    struct node n = *times;

    while (t->nodes[n.left].kind == NODE_TIMES && t->nodes[n.left].low == 0 &&
           times_of(0, n.high) * grammar_size(t, n.left) > UNROLL_MOST) {
        const struct node *inner = &t->nodes[n.left];
        uint64_t high = GRAMMAR_NO_END;

        if (n.high != GRAMMAR_NO_END && inner->high != GRAMMAR_NO_END) {
            high = (uint64_t)n.high * inner->high;
        }
        if (high != GRAMMAR_NO_END && high > GRAMMAR_TIMES_MOST) {
            break;
        }
        n = (struct node){ NODE_TIMES, inner->left, 0, 0, (uint32_t)high };
    }
    return n;
}

/* Make a repetition. If the item may be empty, the lower limit becomes 0, because an empty text
 * stays empty when it is repeated. */
static void make_times(struct maker *m, const struct node *as_written, uint32_t from, uint32_t to)
{
    const struct node flat = flat_times(m->t, as_written), *n = &flat;
    bool empty = grammar_may_be_empty(m->t, n->left);
    uint32_t low = empty ? 0 : n->low, size = grammar_size(m->t, n->left), at = from, next;
    uint64_t times = times_of(low, n->high);

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

static void add_join(struct maker *m, uint32_t rule, uint32_t start, uint32_t to)
{
    if (m->n_joins == m->joins_room) {
        uint32_t room = m->joins_room == 0 ? 32 : 2 * m->joins_room;
        struct join *grown = realloc(m->joins, room * sizeof *grown);

        if (grown == NULL) {
            m->a->full = true;
            return;
        }
        m->joins = grown;
        m->joins_room = room;
    }
    m->joins[m->n_joins++] = (struct join){ rule, start, to };
}

/* Make one copy of the rule for all uses that continue at the same state. If the rule is large and
 * has a copy that continues at another state, call the rule instead. */
static void make_joined(struct maker *m, uint32_t rule, uint32_t from, uint32_t to)
{
    bool elsewhere = false;
    uint32_t start;

    for (uint32_t i = 0; i < m->n_joins; i++) {
        if (m->joins[i].rule == rule && m->joins[i].to == to) {
            skip(m->a, from, m->joins[i].start);
            return;
        }
        elsewhere = elsewhere || m->joins[i].rule == rule;
    }
    if (elsewhere && !grammar_is_small(m->t, rule)) {
        call(m, m->t->rules[rule].body, rule, 1, 1, from, to);
        return;
    }
    start = automaton_state(m->a);
    add_join(m, rule, start, to);
    skip(m->a, from, start);
    make(m, m->t->rules[rule].body, start, to);
}

static void make_rule(struct maker *m, uint32_t rule, uint32_t from, uint32_t to)
{
    const struct rule *r = &m->t->rules[rule];

    if (r->joins) {
        make_joined(m, rule, from, to);
    } else if (grammar_goes_inline(m->t, rule)) {
        make(m, r->body, from, to);
    } else {
        call(m, r->body, rule, 1, 1, from, to);
    }
}

static void push_rest(struct maker *m, uint32_t node, uint32_t from, uint32_t to)
{
    if (m->n_rests == m->room) {
        uint32_t room = m->room == 0 ? 64 : 2 * m->room;
        struct rest *grown = realloc(m->rests, room * sizeof *grown);

        if (grown == NULL) {
            m->a->full = true;
            return;
        }
        m->rests = grown;
        m->room = room;
    }
    m->rests[m->n_rests++] = (struct rest){ node, from, to };
}

static void make_item(struct maker *m, const struct node *n, uint32_t from, uint32_t to)
{
    switch (n->kind) {
    case NODE_RANGE: automaton_characters(m->a, from, to, n->low, n->high); break;
    case NODE_TIMES: make_times(m, n, from, to); break;
    case NODE_RULE: make_rule(m, n->low, from, to); break;
    default: skip(m->a, from, to); break;
    }
}

/* Make a node. A sequence is nested to the left and may be as long as the grammar, so a loop walks
 * it instead of recursion. */
static void make(struct maker *m, uint32_t node, uint32_t from, uint32_t to)
{
    const struct node *n = &m->t->nodes[node];
    uint32_t n_before = m->n_rests;

    while ((n->kind == NODE_PAIR || n->kind == NODE_EITHER) && !m->a->full) {
        uint32_t middle = n->kind == NODE_PAIR ? automaton_state(m->a) : from;

        push_rest(m, n->right, middle, to);
        to = n->kind == NODE_PAIR ? middle : to;
        n = &m->t->nodes[n->left];
    }
    if (!m->a->full) {
        make_item(m, n, from, to);
    }
    while (m->n_rests > n_before && !m->a->full) {
        struct rest r = m->rests[--m->n_rests];

        make(m, r.node, r.from, r.to);
    }
    m->n_rests = n_before;
}

void grammar_make_part(const struct grammar_tree *t, uint32_t node, struct automaton *a,
                       struct part_list *parts)
{
    struct maker m = { .t = t, .a = a, .parts = parts };
    uint32_t start = automaton_state(a), end = automaton_state(a);

    for (uint32_t i = 0; i < t->n_rules; i++) {
        if (t->rules[i].joins && t->rules[i].body == node) {
            add_join(&m, i, start, end);
        }
    }
    make(&m, node, start, end);
    free(m.rests);
    free(m.joins);
    if (!a->full) {
        a->states[end].accepts = true;
    }
}

/* ---- characters as bytes -------------------------------------------------------------------- */

static void byte_edge(struct automaton *a, uint32_t from, uint32_t to, uint32_t low, uint32_t high)
{
    automaton_edge(a, from, (struct edge){ to, -1, low, high });
}

/* Add one piece of a range of characters with n bytes: in low and high, the first bytes are equal,
 * the next may differ, and later ones go from lowest to highest. */
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

/* low and high have the same number of bytes. If all bytes after the first that differs may have
 * any value, the range is one piece. Otherwise cut the range at that byte. */
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
