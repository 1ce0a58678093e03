/* Finds states that are equivalent. A set of states is split while a transition distinguishes two
 * of the states, and a set of transitions is split while they end in different sets. Only the
 * smaller half is examined again, so w transitions take w log w steps (after A. Valmari, Fast brief
 * practical DFA minimization, Information Processing Letters 112, 2012; J. Hopcroft's idea). */
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/grammar_private.h"

/* Items 0 .. n - 1 in sets: set s has items[first[s]] .. items[end[s] - 1], with marked items
 * first. */
struct partition {
    uint32_t *items, *place, *set_of; /* (n); items[place[i]] is i */
    uint32_t *first, *end, *marked;   /* (n) the number of marked items in each set */
    uint32_t *touched;                /* (n) sets with a mark */
    uint32_t n_sets, n_touched;
};

/* A transition between two states, with a label: a kind of bytes, or a call. */
struct way {
    uint32_t from, to;
};

struct alike {
    const struct wide_state *states;
    uint32_t n_states, n_ways;
    struct grammar_budget *budget;
    struct way *ways; /* (n_ways) label after label */
    uint32_t *into,
        *ways_into; /* transitions into state i are ways_into[into[i]] .. ways_into[into[i + 1] -
                       1] */
    struct partition blocks; /* of states */
    struct partition labels; /* sets of transitions with equal labels and ends */
};

/* ---- partitions ----------------------------------------------------------------------------- */

static bool open_partition(struct partition *p, uint32_t n)
{
    uint32_t *memory = calloc(7 * ((size_t)n + 1), sizeof *memory),
             **parts[] = { &p->items, &p->place,  &p->set_of, &p->first,
                           &p->end,   &p->marked, &p->touched };

    for (uint32_t i = 0; memory != NULL && i < sizeof parts / sizeof parts[0]; i++) {
        *parts[i] = memory + i * ((size_t)n + 1);
    }
    for (uint32_t i = 0; memory != NULL && i < n; i++) {
        p->items[i] = p->place[i] = i;
    }
    return memory != NULL;
}

/* Make a new set of items first .. end - 1, in their order. */
static void add_set(struct partition *p, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        p->set_of[i] = p->n_sets;
    }
    p->first[p->n_sets] = first;
    p->end[p->n_sets++] = end;
}

static void mark(struct partition *p, uint32_t item)
{
    uint32_t s = p->set_of[item], from = p->place[item], to = p->first[s] + p->marked[s];

    if (from < to) { /* the item is marked already */
        return;
    }
    p->items[from] = p->items[to];
    p->place[p->items[from]] = from;
    p->items[to] = item;
    p->place[item] = to;
    if (p->marked[s]++ == 0) {
        p->touched[p->n_touched++] = s;
    }
}

/* Split a set that has both marked and unmarked items: the smaller part becomes a new set. */
static void split_set(struct partition *p, uint32_t s)
{
    uint32_t middle = p->first[s] + p->marked[s], z = p->n_sets;

    p->marked[s] = 0;
    if (middle == p->end[s]) {
        return;
    }
    if (middle - p->first[s] <= p->end[s] - middle) {
        p->first[z] = p->first[s];
        p->end[z] = p->first[s] = middle;
    } else {
        p->first[z] = middle;
        p->end[z] = p->end[s];
        p->end[s] = middle;
    }
    p->marked[z] = 0;
    p->n_sets++;
    for (uint32_t i = p->first[z]; i < p->end[z]; i++) {
        p->set_of[p->items[i]] = z;
    }
}

static void split(struct partition *p)
{
    while (p->n_touched != 0) {
        split_set(p, p->touched[--p->n_touched]);
    }
}

/* ---- ways ----------------------------------------------------------------------------------- */

/* Find the bytes at which the transitions of any state change; all bytes from one of these up to
 * the next are one kind. */
static uint32_t find_kinds(const struct alike *a, uint8_t kinds[256])
{
    uint32_t n = 1;

    kinds[0] = 0;
    for (unsigned byte = 1; byte < 256; byte++) {
        uint32_t i = 0;

        while (i < a->n_states && a->states[i].next[byte] == a->states[i].next[byte - 1]) {
            i++;
        }
        if (i < a->n_states) {
            kinds[n++] = (uint8_t)byte;
        }
    }
    return n;
}

struct called {
    struct call_out call;
    uint32_t from;
};

static int compare(const void *x, const void *y)
{
    const struct call_out *a = &((const struct called *)x)->call,
                          *b = &((const struct called *)y)->call;

    if (a->part != b->part) {
        return a->part < b->part ? -1 : 1;
    }
    if (a->low != b->low) {
        return a->low < b->low ? -1 : 1;
    }
    return a->high < b->high ? -1 : a->high > b->high;
}

static void add_bytes(struct alike *a, const uint8_t *kinds, uint32_t n_kinds)
{
    for (uint32_t k = 0; k < n_kinds; k++) {
        uint32_t first = a->n_ways;

        for (uint32_t i = 0; i < a->n_states; i++) {
            uint16_t to = a->states[i].next[kinds[k]];

            if (to != NOWHERE) {
                a->ways[a->n_ways++] = (struct way){ i, to };
            }
        }
        if (a->n_ways != first) {
            add_set(&a->labels, first, a->n_ways);
        }
    }
}

static bool add_calls(struct alike *a, uint32_t n_calls)
{
    struct called *all = malloc((n_calls + 1) * sizeof *all);
    uint32_t n = 0;

    for (uint32_t i = 0; all != NULL && i < a->n_states; i++) {
        for (uint32_t j = 0; j < a->states[i].n_calls; j++) {
            all[n++] = (struct called){ a->states[i].calls[j], i };
        }
    }
    if (all != NULL) {
        qsort(all, n, sizeof *all, compare);
    }
    for (uint32_t i = 0, first = a->n_ways; i < n; i++) {
        a->ways[a->n_ways++] = (struct way){ all[i].from, all[i].call.to };
        if (i + 1 == n || compare(&all[i], &all[i + 1]) != 0) {
            add_set(&a->labels, first, a->n_ways);
            first = a->n_ways;
        }
    }
    free(all);
    return all != NULL;
}

static bool find_ways_into(struct alike *a)
{
    a->into = calloc(a->n_states + 1, sizeof *a->into);
    a->ways_into = malloc((a->n_ways + 1) * sizeof *a->ways_into);
    if (a->into == NULL || a->ways_into == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < a->n_ways; i++) {
        a->into[a->ways[i].to]++;
    }
    for (uint32_t i = 0; i < a->n_states; i++) {
        a->into[i + 1] += a->into[i];
    }
    for (uint32_t i = a->n_ways; i-- > 0;) {
        a->ways_into[--a->into[a->ways[i].to]] = i;
    }
    return true;
}

static bool find_ways(struct alike *a)
{
    uint8_t kinds[256];
    uint32_t n_kinds = find_kinds(a, kinds), n_calls = 0;
    size_t most = 0;

    for (uint32_t i = 0; i < a->n_states; i++) {
        n_calls += a->states[i].n_calls;
        for (uint32_t k = 0; k < n_kinds; k++) {
            most += a->states[i].next[kinds[k]] != NOWHERE;
        }
    }
    most += n_calls;
    if (!grammar_spend(a->budget, 256 * (size_t)a->n_states / 8 + 8 * most)) {
        return false;
    }
    a->ways = malloc((most + 1) * sizeof *a->ways);
    if (a->ways == NULL || !open_partition(&a->labels, (uint32_t)most)) {
        return false;
    }
    add_bytes(a, kinds, n_kinds);
    return add_calls(a, n_calls) && find_ways_into(a);
}

/* ---- splitting sets ------------------------------------------------------------------------- */

/* Split each set of states into the states that have a transition with this label and end, and the
 * others. */
static bool tell_apart(struct alike *a, uint32_t label)
{
    const struct partition *p = &a->labels;

    for (uint32_t i = p->first[label]; i < p->end[label]; i++) {
        mark(&a->blocks, a->ways[p->items[i]].from);
    }
    split(&a->blocks);
    return grammar_spend(a->budget, 4 * (size_t)(p->end[label] - p->first[label]) + 1);
}

/* Split each set of transitions into those that end in this block, and the others. */
static bool tell_ways_apart(struct alike *a, uint32_t block)
{
    const struct partition *p = &a->blocks;
    size_t steps = 1;

    for (uint32_t i = p->first[block]; i < p->end[block]; i++) {
        uint32_t state = p->items[i];

        for (uint32_t j = a->into[state]; j < a->into[state + 1]; j++) {
            mark(&a->labels, a->ways_into[j]);
        }
        steps += 1 + 4 * (a->into[state + 1] - a->into[state]);
    }
    split(&a->labels);
    return grammar_spend(a->budget, steps);
}

static bool refine(struct alike *a)
{
    uint32_t block = 1;
    bool good = true;

    add_set(&a->blocks, 0, a->n_states);
    for (uint32_t i = 0; i < a->n_states; i++) {
        if (a->states[i].accepts) {
            mark(&a->blocks, i);
        }
    }
    split(&a->blocks);
    for (uint32_t label = 0; label < a->labels.n_sets && good; label++) {
        good = tell_apart(a, label);
        for (; block < a->blocks.n_sets && good; block++) {
            good = tell_ways_apart(a, block);
        }
    }
    return good;
}

static void number_groups(const struct alike *a, uint16_t *group, uint16_t *first,
                          uint32_t *n_groups)
{
    uint32_t *number = a->blocks.marked; /* a block's number + 1; reuses the marks' memory */

    *n_groups = 0;
    for (uint32_t i = 0; i < a->n_states; i++) {
        uint32_t block = a->blocks.set_of[i];

        if (number[block] == 0) {
            first[*n_groups] = (uint16_t)i;
            number[block] = ++*n_groups;
        }
        group[i] = (uint16_t)(number[block] - 1);
    }
}

bool grammar_find_alike(const struct wide_state *states, uint32_t n, struct grammar_budget *budget,
                        uint16_t *group, uint16_t *first, uint32_t *n_groups)
{
    struct alike a = { .states = states, .n_states = n, .budget = budget };
    bool good = open_partition(&a.blocks, n) && find_ways(&a) && refine(&a);

    if (good) {
        number_groups(&a, group, first, n_groups);
    }
    free(a.ways);
    free(a.into);
    free(a.ways_into);
    free(a.blocks.items);
    free(a.labels.items);
    return good;
}
