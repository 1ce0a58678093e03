/* Plans the same model in other types for the same machine. */
#ifndef INGOT_HOST_PLAN_FIT_H
#define INGOT_HOST_PLAN_FIT_H

#include <stdbool.h>

#include "board/err.h"
#include "runtime/stream/plan.h"

/* Plans an image on the machine. Returns ERR_OK if it fits. */
typedef enum err plan_fit_fn(void *context, const struct image *image, struct plan *plan);

/* Print a line for each type, best first, and advise one type: the first that is resident, else the
 * type that reads the least per token. A type that is larger than the file is never advised,
 * because it gains nothing. Returns false after printing the error, if memory runs out. */
bool plan_fit_print(const struct image *image, plan_fit_fn *plan, void *context);

#endif
