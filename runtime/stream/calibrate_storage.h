/* A short measurement of the card, for the planner; for the cores see
 * runtime/model/calibrate_compute.h. */
#ifndef INGOT_RUNTIME_CALIBRATE_STORAGE_H
#define INGOT_RUNTIME_CALIBRATE_STORAGE_H

#include "board/machine.h"
#include "runtime/storage/file.h"
#include "runtime/stream/plan.h"
#include "runtime/stream/stream.h"

/* Fill rates->card and io_core: read samples of 1 MiB spread over the file, at least four, for a
 * third of a second. The rates are 0 if reading fails, which loading will report, or if progress
 * (may be NULL) stops it. memory is overwritten. */
void calibrate_storage(struct plan_rates *rates, const struct file *file,
                       const struct platform_clock *clock, struct memory_range memory,
                       stream_progress_fn *progress, void *context);

#endif
