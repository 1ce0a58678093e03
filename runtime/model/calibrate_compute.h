/* What the cores make of this model, measured for the planner before it is loaded. */
#ifndef INGOT_RUNTIME_CALIBRATE_COMPUTE_H
#define INGOT_RUNTIME_CALIBRATE_COMPUTE_H

#include "board/board.h"
#include "runtime/compute/workers.h"
#include "runtime/engine/engine.h"

/* All that computing gives e->request.rates: of every type that the model's matrices have, a matrix
 * for 5 ms, for one token and for a few; whole layers of one token, for what they take beside their
 * matrices, 10 ms or one layer; a checksum. On all cores, over `memory`, which stands in for weights
 * (its contents are lost). e is planned and not loaded: its stream, cache and transformer are
 * borrowed. What does not fit the memory stays 0. */
void calibrate_compute(struct engine *e, struct workers *workers, struct memory_range memory);

#endif
