#include "flash_image/grammar/grammar_compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/grammar_private.h"
#include "runtime/base/crc32c.h"

enum { INLINE_MOST = 96, INLINE_LEAST = 6 }; /* nodes */

/* The automata of all parts, next to each other, in the form of the file. */
struct made {
    struct ingot_grammar_state *states;
    struct ingot_grammar_edge *edges;
    struct ingot_grammar_call *calls;
    uint16_t
        *slots; /* (SLOTS) hash table: a call's number + 1 at its hash, or in the next free slot; 0:
                  free */
    uint32_t n_states, n_edges, n_calls;
    bool full;
};

enum { ENTRIES_MOST = INGOT_GRAMMAR_BYTES / 4, SLOTS = 2 * ENTRIES_MOST /* a power of two */ };

/* Until all parts are complete, a call's start is the number of its part. */
static uint16_t call_of(struct made *m, const struct edge *e, uint32_t first)
{
    struct ingot_grammar_call c = { (uint16_t)e->part, (uint16_t)(first + e->to), (uint16_t)e->low,
                                    (uint16_t)e->high };

    uint32_t at = crc32c(0, &c, sizeof c) % SLOTS;

    while (m->slots[at] != 0) {
        if (memcmp(&m->calls[m->slots[at] - 1], &c, sizeof c) == 0) {
            return (uint16_t)(m->slots[at] - 1);
        }
        at = (at + 1) % SLOTS;
    }
    if (m->n_calls == ENTRIES_MOST) {
        m->full = true;
        return 0;
    }
    m->calls[m->n_calls] = c;
    m->slots[at] = (uint16_t)++m->n_calls;
    return (uint16_t)(m->n_calls - 1);
}

static void add_automaton(struct made *m, const struct automaton *a)
{
    uint32_t first = m->n_states;

    if (m->n_states + a->n_states > ENTRIES_MOST) {
        m->full = true;
        return;
    }
    for (uint32_t i = 0; i < a->n_states && !m->full; i++) {
        const struct state *s = &a->states[i];

        if (s->n_edges > UINT8_MAX || m->n_edges + s->n_edges > ENTRIES_MOST) {
            m->full = true;
            return;
        }
        m->states[m->n_states++] = (struct ingot_grammar_state){ (uint16_t)m->n_edges,
                                                                 (uint8_t)s->n_edges, s->accepts };
        for (uint32_t j = s->edges; j < s->edges + s->n_edges; j++) {
            const struct edge *e = &a->edges[j];

            m->edges[m->n_edges++] =
                e->part < 0 ? (struct ingot_grammar_edge){ (uint8_t)e->low, (uint8_t)e->high,
                                                           (uint16_t)(first + e->to) }
                            : (struct ingot_grammar_edge){ 1, 0, call_of(m, e, first) };
        }
    }
}

static void make_parts(const struct grammar_tree *t, struct part_list *parts,
                       struct grammar_budget *budget, struct made *m)
{
    for (uint32_t i = 0; i < parts->n && !m->full; i++) {
        struct automaton a = { .budget = budget }, smallest;

        parts->parts[i].start = m->n_states;
        grammar_make_part(t, parts->parts[i].node, &a, parts);
        if (parts->n <= GRAMMAR_PARTS_MOST && automaton_determinize(&a, &smallest)) {
            add_automaton(m, &smallest);
            automaton_free(&smallest);
        } else {
            m->full = true;
        }
        automaton_free(&a);
    }
    for (uint32_t i = 0; i < m->n_calls && !m->full; i++) {
        m->calls[i].start = (uint16_t)parts->parts[m->calls[i].start].start;
    }
}

static void *write_grammar(const struct made *m, size_t *bytes)
{
    size_t states = m->n_states * sizeof *m->states, edges = m->n_edges * sizeof *m->edges,
           calls = m->n_calls * sizeof *m->calls;
    struct ingot_grammar *head;
    uint8_t *at;

    *bytes = sizeof *head + states + edges + calls;
    if (m->full || *bytes > INGOT_GRAMMAR_BYTES) {
        return NULL;
    }
    head = calloc(1, *bytes);
    if (head == NULL) {
        return NULL;
    }
    *head = (struct ingot_grammar){ .magic = INGOT_GRAMMAR_MAGIC,
                                    .version = INGOT_GRAMMAR_VERSION,
                                    .n_states = (uint16_t)m->n_states,
                                    .n_edges = (uint16_t)m->n_edges,
                                    .n_calls = (uint16_t)m->n_calls };
    at = (uint8_t *)(head + 1);
    memcpy(at, m->states, states);
    memcpy(at + states, m->edges, edges);
    memcpy(at + states + edges, m->calls, calls);
    head->crc32c = crc32c(0, &head->version, *bytes - 8);
    return head;
}

static enum err compile(const struct grammar_tree *t, void **grammar, size_t *bytes,
                        char *error_message)
{
    struct part_list parts = { .parts = calloc(1, sizeof *parts.parts), .n = 1, .room = 1 };
    struct made m = { .states = calloc(ENTRIES_MOST, sizeof *m.states),
                      .edges = calloc(ENTRIES_MOST, sizeof *m.edges),
                      .calls = calloc(ENTRIES_MOST, sizeof *m.calls),
                      .slots = calloc(SLOTS, sizeof *m.slots) };
    struct grammar_budget budget = { 0 };

    *grammar = NULL;
    if (parts.parts != NULL && m.states != NULL && m.edges != NULL && m.calls != NULL &&
        m.slots != NULL) {
        parts.parts[0] = (struct part){ t->rules[t->root].body, t->root, 0 };
        make_parts(t, &parts, &budget, &m);
        *grammar = write_grammar(&m, bytes);
    }
    free(parts.parts);
    free(m.states);
    free(m.edges);
    free(m.calls);
    free(m.slots);
    if (budget.spent) {
        snprintf(error_message, GRAMMAR_ERROR_MESSAGE_BYTES,
                 "the grammar takes more than the limit of %d million steps to compile: repeat "
                 "less, or let alternatives begin differently",
                 GRAMMAR_STEPS_MOST / 1000000);
        return ERR_TOO_LONG;
    }
    if (*grammar == NULL) {
        snprintf(error_message, GRAMMAR_ERROR_MESSAGE_BYTES,
                 "the grammar is too large: compiled, it may have at most 64 KiB");
        return ERR_TOO_LONG;
    }
    return ERR_OK;
}

static enum err try_once(const char *text, uint32_t inline_most, void **grammar, size_t *bytes,
                         char *error_message)
{
    struct grammar_tree t;
    enum err e = grammar_parse(&t, text, error_message);

    t.inline_most = inline_most;
    if (e == ERR_OK) {
        e = grammar_look_at_rules(&t, error_message);
    }
    if (e == ERR_OK) {
        e = compile(&t, grammar, bytes, error_message);
    }
    grammar_tree_free(&t);
    return e;
}

/* An automaton without calls needs no stack, so rules that are not large are inlined where they are
 * used. If the result is too large, the grammar is compiled again with calls of all rules but the
 * smallest. */
enum err grammar_compile_gbnf(const char *text, void **grammar, size_t *bytes,
                              char error_message[GRAMMAR_ERROR_MESSAGE_BYTES])
{
    enum err e;

    *grammar = NULL;
    e = try_once(text, INLINE_MOST, grammar, bytes, error_message);
    if (e == ERR_TOO_LONG) {
        e = try_once(text, INLINE_LEAST, grammar, bytes, error_message);
    }
    return e;
}
