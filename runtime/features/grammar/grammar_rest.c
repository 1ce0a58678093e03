#include "runtime/features/grammar/grammar_rest.h"

#include <stdbool.h>

#include "board/min_max.h"

static uint32_t capped(uint64_t bytes)
{
    return (uint32_t)min_u64(bytes, GRAMMAR_REST_MOST);
}

/* Return the fewest bytes from a state to an accepting state, computed from the values of other
 * states that `rest` holds so far. */
static uint32_t shortest(const struct grammar *g, const struct ingot_grammar_state *s,
                         const uint16_t *rest)
{
    uint64_t best = GRAMMAR_REST_MOST;

    for (unsigned i = s->edges; i < s->edges + s->n_edges; i++) {
        const struct ingot_grammar_edge *e = &g->edges[i];
        uint64_t bytes;

        if (e->low <= e->high) {
            bytes = 1u + rest[e->to];
        } else {
            const struct ingot_grammar_call *c = &g->calls[e->to];

            bytes = (uint64_t)c->least * rest[c->start] + rest[c->then];
        }
        best = min_u64(best, bytes);
    }
    return capped(best);
}

static bool lower(const struct grammar *g, unsigned state, uint16_t *rest)
{
    uint32_t bytes = shortest(g, &g->states[state], rest);

    if (bytes >= rest[state]) {
        return false;
    }
    rest[state] = (uint16_t)bytes;
    return true;
}

void grammar_rest_of_states(const struct grammar *g, uint16_t *rest)
{
    unsigned n = g->head->n_states;
    bool changed = true;

    for (unsigned i = 0; i < n; i++) {
        rest[i] = g->states[i].accepts ? 0 : GRAMMAR_REST_MOST;
    }
    /* Edges mostly lead to later states, so few rounds are needed. The loop ends because each round
     * lowers at least one value of `rest`. */
    while (changed) {
        changed = false;
        for (unsigned i = n; i-- > 0;) {
            changed |= lower(g, i, rest);
        }
        for (unsigned i = 0; i < n; i++) {
            changed |= lower(g, i, rest);
        }
    }
}

/* Return how many bytes are still needed after a way: the bytes to the end of its own rule and, for
 * each open call, the bytes of the runs that are missing and of the part after the call. */
static uint32_t rest_of_way(const struct grammar_machine *m, struct grammar_way way,
                            const uint16_t *rest)
{
    uint64_t bytes = rest[way.state];

    for (unsigned i = way.frame; i != 0; i = m->frames[i].below) {
        const struct grammar_frame *f = &m->frames[i];
        const struct ingot_grammar_call *c = &m->grammar->calls[f->call];
        unsigned done = f->done + 1u;

        if (done < c->least) {
            bytes += (uint64_t)(c->least - done) * rest[c->start];
        }
        bytes += rest[c->then];
    }
    return capped(bytes);
}

uint32_t grammar_rest(const struct grammar_machine *m, unsigned level, const uint16_t *rest)
{
    const struct grammar_level *at = &m->levels[level];
    uint32_t best = GRAMMAR_REST_MOST;

    for (unsigned i = 0; i < at->n_ways; i++) {
        uint32_t bytes = rest_of_way(m, at->ways[i], rest);

        best = bytes < best ? bytes : best;
    }
    return best;
}
