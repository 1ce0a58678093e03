/* A short measurement of cores and card, for the planner. */
#ifndef INGOT_RUNTIME_PROBE_H
#define INGOT_RUNTIME_PROBE_H

#include "board/board.h"
#include "kernels/kernels.h"
#include "runtime/compute/team.h"
#include "runtime/image/image.h"
#include "runtime/storage/file.h"
#include "runtime/stream/plan.h"
#include "runtime/stream/stream.h"

/* rates->decode and prefill of every type that the model's matrices have: a matrix of the model's
 * shape is multiplied on all cores, for about 10 ms a type, over memory that stands in for
 * weights (its contents are lost). Types that do not fit the memory stay 0. */
void probe_cores(struct plan_rates *rates, const struct image *image,
                 const struct kernels *kernels, struct team *team, struct memory_range memory);

/* rates->card, card_core: pieces of 1 MiB spread over the file, four of them and for a third of a
 * second; 0 where that fails, which loading will tell, or progress (or NULL) stops it. */
void probe_card(struct plan_rates *rates, const struct file *file, struct memory_range memory,
                stream_progress_fn *progress, void *context);

#endif
