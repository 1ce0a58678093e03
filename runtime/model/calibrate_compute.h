/* What the cores make of this model, measured for the planner before it is loaded. */
#ifndef INGOT_RUNTIME_CALIBRATE_COMPUTE_H
#define INGOT_RUNTIME_CALIBRATE_COMPUTE_H

#include "board/machine.h"
#include "runtime/compute/workers.h"
#include "runtime/model/model.h"

/* All that computing gives m->request.rates: of every type that the model's matrices have, a matrix
 * for 5 ms, for one token and for a few; whole layers of one token, for what they take beside their
 * matrices, 10 ms or one layer; a checksum. On all cores, over `memory`, which stands in for weights
 * (its contents are lost). m is planned and not loaded: its stream and transformer are
 * borrowed. What does not fit the memory stays 0. */
void calibrate_compute(struct model *m, struct workers *workers, struct memory_range memory);

#endif
