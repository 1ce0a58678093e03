/* Kernels that are wrong on purpose, to test the tester. */
#ifndef INGOT_TESTS_KERNELS_BROKEN_H
#define INGOT_TESTS_KERNELS_BROKEN_H

#include <stdint.h>

/* Each must be caught: a TAP line each, numbered on from *tap_number. Those that need more than the
 * CPU's features are skipped. Returns the number that were not. */
int broken_test(uint64_t seed, uint32_t features, int *tap_number);

#endif
