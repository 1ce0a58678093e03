/* How explore_tsan.c reports an access; nobody else calls it. `memory` is the memory of the
 * object. */
#ifndef INGOT_TESTS_ORDER_EXPLORE_MEMORY_H
#define INGOT_TESTS_ORDER_EXPLORE_MEMORY_H

#include "tests/order/explore.h"

/* Returns whether a core of a program makes the access. If not, only memory counts. */
bool explore_runs(void);

/* A plain access; does nothing outside a program. */
void explore_touch(const volatile void *at, size_t bytes, bool writes);

/* Atomic ones. order: __ATOMIC_RELAXED .. __ATOMIC_SEQ_CST. */
uint64_t explore_load(const volatile void *address, uint64_t memory, int order);
void explore_store(const volatile void *address, uint64_t memory, uint64_t bits, int order);

/* The two halves of a read-modify-write inside a program: returns the last value, and stores its
 * successor. */
uint64_t explore_last(const volatile void *address, uint64_t memory, int order, unsigned *index);
void explore_change(unsigned index, const volatile void *address, uint64_t bits, int order);

#endif
