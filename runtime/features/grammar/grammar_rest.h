/* The fewest bytes that complete a text. This leads a reply near its limit to a complete
 * end. */
#ifndef INGOT_RUNTIME_GRAMMAR_GRAMMAR_REST_H
#define INGOT_RUNTIME_GRAMMAR_GRAMMAR_REST_H

#include "runtime/features/grammar/grammar_machine.h"

enum {
    GRAMMAR_STATES = INGOT_GRAMMAR_BYTES /
                     sizeof(struct ingot_grammar_state), /* states of a grammar at most */
    GRAMMAR_REST_MOST = UINT16_MAX, /* bytes; stands for larger numbers, and for a text that cannot
                                     * end */
};

/* Compute rest (n_states, at most GRAMMAR_STATES): the bytes from each state to an accepting
 * one, including calls that begin on the way, but not those that are already open. Call once for a
 * grammar. */
void grammar_rest_of_states(const struct grammar *g, uint16_t *rest);

/* Bytes that the text up to `level` still needs, up to GRAMMAR_REST_MOST: 0 if it is complete.
 * rest: from grammar_rest_of_states. Ignores the depth of calls, so a text near INGOT_GRAMMAR_DEPTH
 * may need more. */
uint32_t grammar_rest(const struct grammar_machine *m, unsigned level, const uint16_t *rest);

#endif
