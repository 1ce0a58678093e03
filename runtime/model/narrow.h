/* A pass that leaves tokens out: after the keys and values of the last layer that writes a
 * state, only tokens that are read after the pass continue. Most of a prompt's tokens are not
 * read, and their part of that layer (queries, attention, output, feed-forward) would be thrown
 * away. No bit of a result changes: a token's results do not depend on the other tokens in its
 * pass (docs/DESIGN.md, the numerical contract). */
#ifndef INGOT_RUNTIME_NARROW_H
#define INGOT_RUNTIME_NARROW_H

#include "runtime/model/transformer.h"

/* Run the current layer, all of whose bytes are there, up to what states take from every token.
 * Then move the rows of the tokens that are read to the front of the activations: t->parts and
 * t->n_tokens describe these, perhaps none. */
void narrow_run(struct transformer *t);

/* Run the rest of the layer for them, with their tables of rotations. */
void narrow_run_rest(struct transformer *t);

/* The row (dim) of act.x with the result of a token of the pass that was not skipped. */
const float *narrow_row(const struct transformer *t, uint32_t token);

#endif
