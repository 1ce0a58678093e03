/* A pass that leaves tokens out: behind the keys and values of the last layer that writes a state, only tokens that are
 * read after the pass go on. A prompt's other tokens are most of it, and their part of that layer (queries, attention,
 * output, feed-forward) would be thrown away. No bit of what is read changes: a token's results do not depend on
 * which others are in its pass (docs/DESIGN.md, the numerical contract). */
#ifndef INGOT_RUNTIME_NARROW_H
#define INGOT_RUNTIME_NARROW_H

#include "runtime/model/transformer.h"

/* The layer at work, all of whose bytes are there, up to what states take of every token. Then the rows of the tokens
 * that are read move to the front of the activations: t->parts and t->n_tokens are theirs, perhaps none. */
void narrow_run(struct transformer *t);

/* The rest of the layer for them; the tables of rotations are theirs. */
void narrow_run_rest(struct transformer *t);

/* The row (dim) of act.x in which a token of the pass, that was not skipped, has ended. */
const float *narrow_row(const struct transformer *t, uint32_t token);

#endif
