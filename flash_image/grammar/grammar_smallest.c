/* Makes an automaton deterministic (subset construction), then gives it the fewest states
 * (grammar_alike.c). */
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/grammar_private.h"

enum {
    CALLS_MOST = 48,
    SETS_MOST = 1 << 23, /* sum of the sizes of all sets: 32 MB */
    SLOTS = 2 * GRAMMAR_WIDE_MOST,
};

struct work {
    const struct automaton *from;
    struct wide_state *states;
    uint32_t n, room;
    uint32_t *sets; /* ascending states, set after set */
    uint32_t n_sets, sets_room;
    uint32_t *marked; /* (from->n_states) the marked states */
    uint32_t n_marked;
    uint8_t *in; /* (from->n_states) 1: the state is marked */
    uint16_t *
        slots; /* (SLOTS) hash table: a state's number + 1 at its set's hash, or in the next free slot; 0:
                  free */
    bool full;
};

static bool room_for_set(struct work *w, uint32_t n)
{
    if (w->n_sets + n > w->sets_room) {
        uint32_t room = 2 * (w->n_sets + n);
        uint32_t *grown = room <= SETS_MOST ? realloc(w->sets, room * sizeof *grown) : NULL;

        if (grown == NULL) {
            w->full = true;
            return false;
        }
        w->sets = grown;
        w->sets_room = room;
    }
    return true;
}

static void mark(struct work *w, uint32_t state)
{
    if (!w->in[state]) {
        w->in[state] = 1;
        w->marked[w->n_marked++] = state;
    }
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Also mark all states that marked states reach without reading a byte. */
static void close_marks(struct work *w)
{
    const struct automaton *a = w->from;
    size_t steps = 0;

    for (uint32_t at = 0; at < w->n_marked; at++) {
        const struct state *s = &a->states[w->marked[at]];

        for (uint32_t i = s->edges; i < s->edges + s->n_edges; i++) {
            if (a->edges[i].part == -2) {
                mark(w, a->edges[i].to);
            }
        }
        steps += 2 + s->n_edges;
    }
    w->full = w->full || !grammar_spend(a->budget, steps);
}

/* Append the marked states to the sets, in ascending order, and clear the marks. */
static uint32_t *take_marks(struct work *w, uint32_t n)
{
    uint32_t *set = &w->sets[w->n_sets], most = w->from->n_states;

    if (n > most / 16) {
        uint32_t at = 0;

        for (uint32_t i = 0; i < most; i++) {
            if (w->in[i]) {
                set[at++] = i;
            }
        }
        memset(w->in, 0, most);
    } else {
        memcpy(set, w->marked, n * sizeof *set);
        qsort(set, n, sizeof *set, compare);
        for (uint32_t i = 0; i < n; i++) {
            w->in[set[i]] = 0;
        }
    }
    w->n_marked = 0;
    return set;
}

static bool is_set(const struct work *w, const struct wide_state *s, const uint32_t *set,
                   uint32_t n)
{
    return s->n_set == n && memcmp(&w->sets[s->set], set, n * sizeof *set) == 0;
}

static uint16_t *slot_of(const struct work *w, const uint32_t *set, uint32_t n)
{
    uint32_t at = 2166136261u;

    for (uint32_t i = 0; i < n; i++) {
        at = (at ^ set[i]) * 16777619u;
        at ^= at >> 15;
    }
    for (;; at++) {
        uint16_t *slot = &w->slots[at % SLOTS];

        if (*slot == 0 || is_set(w, &w->states[*slot - 1], set, n)) {
            return slot;
        }
    }
}

static bool room_for_state(struct work *w)
{
    if (w->n == GRAMMAR_WIDE_MOST) {
        w->full = true;
    } else if (w->n == w->room) {
        uint32_t room = w->room == 0 ? 64 : 2 * w->room;
        struct wide_state *grown = realloc(w->states, room * sizeof *grown);

        w->full = grown == NULL;
        w->states = grown != NULL ? grown : w->states;
        w->room = grown != NULL ? room : w->room;
    }
    return !w->full;
}

/* Return the result's state for the marked states and those that they reach without a byte; NOWHERE
 * if no state is marked. Clears the marks. */
static uint32_t state_of_marks(struct work *w)
{
    uint32_t n, *set;
    uint16_t *slot;

    if (w->n_marked == 0) {
        return NOWHERE;
    }
    close_marks(w);
    n = w->n_marked;
    if (w->full || !room_for_set(w, n)) {
        return NOWHERE;
    }
    set = take_marks(w, n);
    slot = slot_of(w, set, n);
    if (*slot != 0) {
        return *slot - 1u;
    }
    if (!room_for_state(w)) {
        return NOWHERE;
    }
    memset(&w->states[w->n], 0, sizeof w->states[0]);
    w->states[w->n].set = w->n_sets;
    w->states[w->n].n_set = n;
    w->n_sets += n;
    *slot = (uint16_t)(w->n + 1);
    return w->n++;
}

/* True if an edge of one of the set's states takes the byte or makes the call. */
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
    size_t steps = 0;

    for (uint32_t i = 0; i < w->states[at].n_set; i++) {
        const struct state *s = &a->states[w->sets[w->states[at].set + i]];

        for (uint32_t j = s->edges; j < s->edges + s->n_edges; j++) {
            if (takes(&a->edges[j], c, byte)) {
                mark(w, a->edges[j].to);
            }
        }
        steps += 1 + s->n_edges;
    }
    w->full = w->full || !grammar_spend(a->budget, steps);
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

/* Collect the bytes at which an edge of the set begins or ends; all bytes between two of these lead
 * to the same state. */
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
    uint16_t *group = malloc(2 * w->n * sizeof *group), *first = group + w->n;
    uint32_t n = 0;

    w->full = group == NULL ||
              !grammar_find_alike(w->states, w->n, w->from->budget, group, first, &n);
    for (uint32_t g = 0; g < n && !w->full; g++) {
        (void)automaton_state(out);
    }
    for (uint32_t g = 0; g < n && !w->full && !out->full; g++) { /* group 0 has the start */
        write_state(w, group, first[g], g, out);
    }
    free(group);
}

bool automaton_determinize(const struct automaton *a, struct automaton *out)
{
    struct work w = { .from = a, .full = a->full };

    *out = (struct automaton){ .budget = a->budget };
    w.marked = malloc((a->n_states + 1) * sizeof *w.marked);
    w.in = calloc(a->n_states + 1, 1);
    w.slots = calloc(SLOTS, sizeof *w.slots);
    if (w.marked == NULL || w.in == NULL || w.slots == NULL) {
        w.full = true;
    }
    if (!w.full) {
        mark(&w, 0);
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
    free(w.marked);
    free(w.in);
    free(w.slots);
    if (w.full || out->full) {
        automaton_free(out);
        return false;
    }
    return true;
}
