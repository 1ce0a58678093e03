/* Measures the card briefly, for the planner. runtime/model/calibrate_compute.h measures the
 * cores. */
#ifndef INGOT_RUNTIME_CALIBRATE_STORAGE_H
#define INGOT_RUNTIME_CALIBRATE_STORAGE_H

#include "board/machine.h"
#include "runtime/storage/file.h"
#include "runtime/stream/plan.h"
#include "runtime/stream/stream.h"

/* Fill rates->card and io_core by reading samples of 1 MiB, spread over the file, for a third of a
 * second; at least four samples are read. The rates are 0 if reading fails, which loading will
 * report, or if progress (may be NULL) stops it. memory is overwritten. */
void calibrate_storage(struct plan_rates *rates, const struct file *file,
                       const struct platform_clock *clock, struct memory_range memory,
                       stream_progress_fn *progress, void *context);

#endif
