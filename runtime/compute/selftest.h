/* The boot option `selftest`: are the kernels right on this very CPU? */
#ifndef INGOT_RUNTIME_SELFTEST_H
#define INGOT_RUNTIME_SELFTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/machine.h"
#include "kernels/kernels.h"

/* The listener that is told how it goes. */
struct selftest_report {
    void *context;
    bool (*say)(void *context, const char *line); /* false: stop before the next kernel */
    void (*fault)(void *context,
                  const char *line); /* what differed, before the line of its kernel */
};

/* Hold every kernel that `features` allows against its reference, with a line each and one at the
 * end, and put the reference in the place of one that fails: slower, with the same results. `seed`
 * repeats a run. work is overwritten; it takes a little over 700 KiB. False: it is too small, or a
 * reference itself fails, so that nothing can be trusted; the report has said so. */
bool selftest_run(struct kernels *k, uint32_t features, uint64_t seed, struct memory_range work,
                  const struct selftest_report *report);

#endif
