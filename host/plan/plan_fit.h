/* Plans the same model in other weight types for the same machine. */
#ifndef INGOT_HOST_PLAN_FIT_H
#define INGOT_HOST_PLAN_FIT_H

#include <stdbool.h>

#include "board/err.h"
#include "runtime/stream/plan.h"

/* Plans an image on the machine. Returns ERR_OK if it fits. */
typedef enum err plan_fit_fn(void *context, const struct image *image, struct plan *plan);

/* Print a line for each type, best first, and advise one: the first that is resident, else the one
 * that reads the least per token. If no type gains enough, advise to keep the file as it is. A type
 * that needs more bytes than the file is never advised. Returns false after printing the error, if
 * memory runs out. */
bool plan_fit_print(const struct image *image, plan_fit_fn *plan, void *context);

#endif
