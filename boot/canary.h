/* The word that functions with arrays keep between those and their return address, and compare before
 * they return (-fstack-protector-strong). */
#ifndef INGOT_BOOT_CANARY_H
#define INGOT_BOOT_CANARY_H

#include "board/device_tree.h"

/* Choose it for this boot: from the firmware's random numbers (/chosen rng-seed, kaslr-seed), the CPU's
 * own where it has them, and the clock, which alone says little. tree NULL: there is none. Core 0,
 * before the other cores start, in a function that never returns: whoever is on the stack now would
 * find another word. */
void canary_init(const struct device_tree *tree);

#endif
