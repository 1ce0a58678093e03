/* The same model in other types, planned for the same machine. */
#ifndef INGOT_HOST_PLAN_FIT_H
#define INGOT_HOST_PLAN_FIT_H

#include <stdbool.h>

#include "host/app/host_app.h"

/* Print a line for each type, best first, and which one to take: the first that is resident, else
 * the one that reads the least per token. False: out of memory, said. */
bool plan_fit_print(const struct model *m);

#endif
