/* How much of a text is missing: the fewest bytes after which it is complete. A reply that may not become longer is
 * led to its end by it. */
#ifndef INGOT_RUNTIME_GRAMMAR_GRAMMAR_REST_H
#define INGOT_RUNTIME_GRAMMAR_GRAMMAR_REST_H

#include "runtime/features/grammar/grammar_machine.h"

enum {
    GRAMMAR_STATES = INGOT_GRAMMAR_BYTES /
                     sizeof(struct ingot_grammar_state), /* of a grammar at most */
    GRAMMAR_REST_MOST =
        UINT16_MAX, /* bytes; this many and more, and where no end is, count as this many */
};

/* rest (n_states, at most GRAMMAR_STATES): bytes from each state to one that accepts, calls that begin on the way
 * included, and those that are open already left out. Done once for a grammar. */
void grammar_rest_of_states(const struct grammar *g, uint16_t *rest);

/* Bytes that the text up to `level` still needs, up to GRAMMAR_REST_MOST: 0 where it is complete. rest as above. The
 * depth of calls is not looked at, so that a text near INGOT_GRAMMAR_DEPTH may need more. */
uint32_t grammar_rest(const struct grammar_machine *m, unsigned level, const uint16_t *rest);

#endif
