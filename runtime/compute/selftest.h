/* The boot word `selftest`: are the kernels right on this very CPU? */
#ifndef INGOT_RUNTIME_SELFTEST_H
#define INGOT_RUNTIME_SELFTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

/* Hold every kernel that `features` allows against its reference, with a log line each and one at
 * the end, and put the reference in the place of one that fails: slower, with the same results.
 * `seed` repeats a run. Works in work[bytes], a little over 700 KiB, which is free again
 * afterwards. False: `bytes` are too few, or a reference itself fails, so that nothing can be
 * trusted; the console has said so. Ctrl-C stops between two kernels. */
bool selftest_run(struct kernels *k, uint32_t features, uint64_t seed, uint8_t *work, size_t bytes);

#endif
