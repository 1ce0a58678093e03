/* Makes a pass leave tokens out. In the last layer that writes a state, only tokens whose results
 * are needed continue once the keys and values are computed. The results of most prompt tokens are
 * not needed, so the rest of that layer (queries, attention, output, feed-forward) would be wasted
 * on them. No bit of a result changes, because a token's results do not depend on other tokens in
 * its pass (docs/DESIGN.md, "One result everywhere"). */
#ifndef INGOT_RUNTIME_NARROW_H
#define INGOT_RUNTIME_NARROW_H

#include "runtime/model/transformer.h"

/* Run the current layer, whose bytes have all arrived, until the states have their data from every
 * token. Then move the rows of the tokens that continue to the front of the activations; t->parts
 * and t->n_tokens describe these tokens (there may be none). */
void narrow_run(struct transformer *t);

/* Run the rest of the layer for the tokens that continue, with their tables of rotations. */
void narrow_run_rest(struct transformer *t);

/* Return the row (dim) of act.x with the result of a token of the pass that was not skipped. */
const float *narrow_row(const struct transformer *t, uint32_t token);

#endif
