/* The value that functions with arrays keep between the arrays and the return address, and
 * compare before they return (-fstack-protector-strong). */
#ifndef INGOT_BOOT_CANARY_H
#define INGOT_BOOT_CANARY_H

#include "board/device_tree.h"

/* Choose the value for this boot: from the firmware's random numbers (/chosen rng-seed,
 * kaslr-seed), the CPU's random numbers if it has any, and the clock, a weak source. tree may be
 * NULL. Call this on core 0, before the other cores start, in a function that never returns:
 * functions on the stack at that moment would find a changed value. */
void canary_init(const struct device_tree *tree);

#endif
