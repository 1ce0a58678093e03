#include "runtime/api/api_automaton.h"

#include <string.h>

#include "flash_image/format/grammar.h"
#include "runtime/base/crc32c.h"

struct api_edge {
    struct api_edge *next;
    uint16_t from, to; /* `to` is a state, or the number of a call */
    uint8_t low, high; /* if low is above high, the edge is a call */
};

struct api_part {
    struct api_part *next;
    struct ingot_grammar_call call;
};

enum { EDGES_MOST = UINT8_MAX /* of one state */ };

bool api_automaton_open(struct api_automaton *a, struct api_memory *m)
{
    *a = (struct api_automaton){ .memory = m };
    a->accepts = api_memory_take(m, API_STATES_MOST / 8);
    if (a->accepts == NULL) {
        return false;
    }
    memset(a->accepts, 0, API_STATES_MOST / 8);
    a->nowhere = api_automaton_state(a);
    return true;
}

uint32_t api_automaton_state(struct api_automaton *a)
{
    a->full |= a->n_states == API_STATES_MOST;
    return a->full ? 0 : a->n_states++;
}

void api_automaton_accept(struct api_automaton *a, uint32_t state)
{
    a->accepts[state / 8] |= (uint8_t)(1u << state % 8);
}

static void add_edge(struct api_automaton *a, uint32_t from, uint32_t to, uint8_t low, uint8_t high)
{
    struct api_edge *e = a->full ? NULL : api_memory_take(a->memory, sizeof *e);

    if (e == NULL || a->n_edges == UINT16_MAX) {
        a->full = true;
        return;
    }
    *e = (struct api_edge){ .from = (uint16_t)from, .to = (uint16_t)to, .low = low, .high = high };
    if (a->last != NULL) {
        a->last->next = e;
    } else {
        a->edges = e;
    }
    a->last = e;
    a->n_edges++;
}

void api_automaton_byte(struct api_automaton *a, uint32_t from, uint32_t to, uint8_t low,
                        uint8_t high)
{
    add_edge(a, from, to, low, high);
}

void api_automaton_text(struct api_automaton *a, uint32_t from, uint32_t to, const char *text,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t next = i + 1 == n ? to : api_automaton_state(a);

        add_edge(a, from, next, (uint8_t)text[i], (uint8_t)text[i]);
        from = next;
    }
}

void api_automaton_call(struct api_automaton *a, uint32_t from, uint32_t to, uint32_t start,
                        uint32_t least, uint32_t most)
{
    struct api_part *p = a->full ? NULL : api_memory_take(a->memory, sizeof *p);

    if (p == NULL || a->n_calls == UINT16_MAX) {
        a->full = true;
        return;
    }
    *p = (struct api_part){ .call = { .start = (uint16_t)start,
                                      .then = (uint16_t)to,
                                      .least = (uint16_t)least,
                                      .most = (uint16_t)most } };
    if (a->last_call != NULL) {
        a->last_call->next = p;
    } else {
        a->calls = p;
    }
    a->last_call = p;
    add_edge(a, from, a->n_calls++, 1, 0);
}

/* Add a call that runs its part 0 times. The part begins at a state that no edge leaves. */
void api_automaton_skip(struct api_automaton *a, uint32_t from, uint32_t to)
{
    api_automaton_call(a, from, to, a->nowhere, 0, 1);
}

/* Group the edges by their states. Returns false if a state has too many edges. */
static bool lay_out(const struct api_automaton *a, struct ingot_grammar *head)
{
    struct ingot_grammar_state *states = (void *)(head + 1);
    struct ingot_grammar_edge *edges = (void *)(states + a->n_states);
    struct ingot_grammar_call *calls = (void *)(edges + a->n_edges);
    uint32_t at = 0;

    memset(states, 0, a->n_states * sizeof *states);
    for (const struct api_edge *e = a->edges; e != NULL; e = e->next) {
        if (states[e->from].n_edges++ == EDGES_MOST) {
            return false;
        }
    }
    for (uint32_t i = 0; i < a->n_states; i++) {
        states[i].edges = (uint16_t)at;
        states[i].accepts = a->accepts[i / 8] >> i % 8 & 1;
        at += states[i].n_edges;
        states[i].n_edges = 0;
    }
    for (const struct api_edge *e = a->edges; e != NULL; e = e->next) {
        struct ingot_grammar_state *s = &states[e->from];

        edges[s->edges + s->n_edges++] = (struct ingot_grammar_edge){ e->low, e->high, e->to };
    }
    for (const struct api_part *p = a->calls; p != NULL; p = p->next) {
        *calls++ = p->call;
    }
    return true;
}

void *api_automaton_grammar(const struct api_automaton *a, uint32_t start, size_t *bytes)
{
    struct ingot_grammar *head;
    size_t n = sizeof *head + a->n_states * sizeof(struct ingot_grammar_state) +
               a->n_edges * sizeof(struct ingot_grammar_edge) +
               a->n_calls * sizeof(struct ingot_grammar_call);

    if (a->full || n > INGOT_GRAMMAR_BYTES) {
        return NULL;
    }
    head = api_memory_take(a->memory, n);
    if (head == NULL) {
        return NULL;
    }
    *head = (struct ingot_grammar){ .magic = INGOT_GRAMMAR_MAGIC,
                                    .version = INGOT_GRAMMAR_VERSION,
                                    .start = (uint16_t)start,
                                    .n_states = (uint16_t)a->n_states,
                                    .n_edges = (uint16_t)a->n_edges,
                                    .n_calls = (uint16_t)a->n_calls };
    if (!lay_out(a, head)) {
        return NULL;
    }
    head->crc32c = crc32c(0, &head->version, n - 8);
    *bytes = n;
    return head;
}
