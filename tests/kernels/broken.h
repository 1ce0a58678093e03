/* Kernels that are wrong on purpose, to test the tester. */
#ifndef INGOT_TESTS_KERNELS_BROKEN_H
#define INGOT_TESTS_KERNELS_BROKEN_H

#include <stdint.h>

/* Runs each of them: it must be caught. Prints a TAP line each, numbered on from *tap_number, and
 * skips those that need more than the CPU's features. Returns how many were not caught. */
int broken_test(uint64_t seed, uint32_t features, int *tap_number);

#endif
