/* The fewest bytes that complete a text. The number helps to lead a reply near its limit to a
 * complete end. */
#ifndef INGOT_RUNTIME_GRAMMAR_GRAMMAR_REST_H
#define INGOT_RUNTIME_GRAMMAR_GRAMMAR_REST_H

#include "runtime/features/grammar/grammar_machine.h"

enum {
    GRAMMAR_STATES = INGOT_GRAMMAR_BYTES /
                     sizeof(struct ingot_grammar_state), /* the most states of a grammar */
    GRAMMAR_REST_MOST = UINT16_MAX, /* stands for this many bytes or more, and for a text that
                                     * cannot end */
};

/* Compute rest (n_states <= GRAMMAR_STATES), the bytes from each state to a state that accepts.
 * Calls that begin on the way count, but calls that are already open do not. Call once for a
 * grammar. */
void grammar_rest_of_states(const struct grammar *g, uint16_t *rest);

/* Return how many bytes complete the text up to `level`, at most GRAMMAR_REST_MOST. `rest` is from
 * grammar_rest_of_states. The depth of calls is ignored, so a text near INGOT_GRAMMAR_DEPTH may
 * need more. */
uint32_t grammar_rest(const struct grammar_machine *m, unsigned level, const uint16_t *rest);

#endif
