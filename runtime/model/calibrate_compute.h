/* Measure how fast the cores compute this model, for the planner, before the model is loaded. */
#ifndef INGOT_RUNTIME_CALIBRATE_COMPUTE_H
#define INGOT_RUNTIME_CALIBRATE_COMPUTE_H

#include "board/machine.h"
#include "runtime/compute/workers.h"
#include "runtime/model/model.h"

/* Fill the rates of computing in m->request.rates. For each type among the model's matrices, one
 * matrix is multiplied for 5 ms with one token, then for 5 ms with 32 tokens. Whole layers, at
 * least one, run for 10 ms to measure the time outside their matrices. The shortest times count. If
 * the two shortest times differ, because other programs use the cores, the measurement continues
 * for up to three times as long, and then sets rates.disturbed. A checksum is timed, too. All cores
 * use `memory` as if it held weights; its contents are lost. m is planned but not loaded, so its
 * stream and transformer are borrowed. A rate stays 0 if the data to measure it do not fit in the
 * memory. */
void calibrate_compute(struct model *m, struct workers *workers, struct memory_range memory);

#endif
