/* Runs programs of a few cores in every order that the bounds allow, under the memory model of C11
 * instead of this computer's: a load may give a value that another core has replaced already, unless
 * an order of the program forbids it.
 *
 * The program is the real source, compiled with -fsanitize=thread; explore.c stands in the place of
 * ThreadSanitizer's library, so that it sees every access to memory. Faults are: two plain
 * accesses to one byte by two cores without order between them, cores that all wait, and what the
 * program itself calls one (explore_check).
 *
 * The model: each atomic object has a list of all values stored to it, and each core and each value a
 * view of how far in these lists one must have seen. Acquire takes over the view of the value that is
 * read, release gives one; a read-modify-write reads the last value, and goes on with the release of
 * the one before. Sequentially consistent loads see at least the last sequentially consistent store.
 * Stores join the lists in the order in which they run, so two bare stores to two objects that are
 * seen in contrary order by their lists (2+2W) are not found, nor loads that run before earlier stores
 * of another object (load buffering). */
#ifndef INGOT_TESTS_ORDER_EXPLORE_H
#define INGOT_TESTS_ORDER_EXPLORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXPLORE_CORES = 4 };

/* How the accesses of an object are made weaker than the source says. */
enum explore_kind {
    EXPLORE_LOADS = 1,
    EXPLORE_STORES = 2
}; /* of an object; a read-modify-write is
                                                              * both */

struct explore_weaker {
    const volatile void *object; /* NULL: none */
    unsigned kinds;              /* of enum explore_kind */
    bool relaxed; /* false: acquire and release stay, sequential consistency is dropped */
};

struct explore_bounds {
    unsigned preemptions; /* times that a core is passed over, in one run */
    unsigned stale;       /* loads that return an older value, in one run */
    unsigned long runs;   /* the most; explore_result.cut says whether it was reached */
};

struct explore_result {
    unsigned long runs;
    bool cut;
    char fault[160]; /* empty: none was found */
};

/* Runs program() on core 0 in every order within the bounds, until one has a fault. program sets up
 * all of its memory anew each time, and must do the same each time, apart from what the cores
 * do. */
struct explore_result explore(void (*program)(void), const struct explore_bounds *bounds,
                              const struct explore_weaker *weaker);

/* For programs: runs entry(arg) on `core` (1 ..), which has seen what the caller has. */
void explore_start(unsigned core, void (*entry)(void *arg), void *arg);

/* A core's WFI: sleeps, if *word is still `old` for this core, until explore_wake is called. */
void explore_wait(const _Atomic uint32_t *word, uint32_t old);
void explore_wake(void);

/* For a loop that waits: continues when another core has stored something. */
void explore_yield(void);

/* The calling core. */
unsigned explore_core(void);

/* Is a fault with this sentence, unless `good`. */
void explore_check(bool good, const char *what);

#endif
