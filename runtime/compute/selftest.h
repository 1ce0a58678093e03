/* The boot option `selftest`: checks that the kernels are right on this CPU. */
#ifndef INGOT_RUNTIME_SELFTEST_H
#define INGOT_RUNTIME_SELFTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/machine.h"
#include "kernels/kernels.h"

/* The destination of progress and results. */
struct selftest_report {
    void *context;
    bool (*say)(void *context, const char *line); /* Receives the results while the test runs. */
    void (*fault)(void *context,
                  const char *line); /* receives a difference, before the kernel's line */
};

/* Compare every kernel that `features` allows with its reference, report a line for each and one at
 * the end, and replace a kernel that fails by its reference, which is slower. The same `seed`
 * repeats a run. work is overwritten; it takes a little over 700 KiB. Return false, after a report,
 * if work is too small, or if a reference itself fails, so that nothing can be trusted. */
bool selftest_run(struct kernels *k, uint32_t features, uint64_t seed, struct memory_range work,
                  const struct selftest_report *report);

#endif
