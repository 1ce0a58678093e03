/* How fast the cores compute this model, measured for the planner before it is loaded. */
#ifndef INGOT_RUNTIME_CALIBRATE_COMPUTE_H
#define INGOT_RUNTIME_CALIBRATE_COMPUTE_H

#include "board/machine.h"
#include "runtime/compute/workers.h"
#include "runtime/model/model.h"

/* Fill the rates of computing in m->request.rates. For each type of the model's matrices a
 * matrix is multiplied for 5 ms, for one token and for a few. Whole layers run for 10 ms (one at
 * least), for the time beside their matrices. The least times count; while the least two differ, as
 * others use the cores, it goes on ten times as long, and says so in the end (rates.disturbed). A
 * checksum is timed. All cores work, over `memory`, which stands in for weights (its contents are
 * lost). m is planned and not loaded: its stream and transformer are borrowed. A rate stays 0 if
 * its work does not fit the memory. */
void calibrate_compute(struct model *m, struct workers *workers, struct memory_range memory);

#endif
