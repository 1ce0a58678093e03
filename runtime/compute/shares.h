/* How much of each job every core gets. At first the parts are equal, or follow the device tree if
 * its cores are unequal. After measurements show that some cores take longer, parts follow the
 * measured speeds. A core may take longer because it is of another kind, has a slower clock, or
 * moves the bytes of a card. Parts change again when the speeds do. Only whole steps of a job move
 * to another core, so no bit of a result depends on the parts. This file uses no threads; workers.c
 * calls it. */
#ifndef INGOT_RUNTIME_SHARES_H
#define INGOT_RUNTIME_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/machine.h"

enum { SHARES_SAMPLES = 15 }; /* number of jobs that are measured before a decision */

struct shares {
    unsigned n_cores;
    uint32_t before[BOARD_MAX_CORES + 1]; /* sum of the parts of the cores below i */
    uint32_t n_jobs;                      /* jobs since the last measured one */
    uint32_t every;                       /* every n-th job is measured; this is n */
    uint32_t n_samples;
    uint16_t speeds[BOARD_MAX_CORES][SHARES_SAMPLES]; /* a core's share of the sum of all speeds, in
                                                       * each job; 65535 is the whole */
};

/* Begin with n_cores cores and no measurements. capacity (n_cores): the relative speed of each
 * core, at least 1; NULL: equal parts. */
void shares_begin(struct shares *s, unsigned n_cores, const uint32_t *capacity);

/* The first returns true if all cores have equal parts, the second a core's part in percent. */
bool shares_are_equal(const struct shares *s);
unsigned shares_percent(const struct shares *s, unsigned core);

/* A job begins. Return true if the job is to be measured. */
bool shares_measures(struct shares *s);

/* Call when a measured job has ended. busy (n_cores): how long each core worked, in any unit.
 * given (n_cores): how much of the job each core got, in any unit; whole steps do not match the
 * shares exactly. Jobs that are too short, or in which a core got nothing, do not count. */
void shares_take(struct shares *s, const uint64_t *busy, const uint32_t *given);

/* The part [*first, *last) of n items, in whole steps of `step` items, for this core. No other
 * division into whole steps ends earlier if each core has the speed that was measured. */
void shares_part(const struct shares *s, unsigned core, size_t n, size_t step, size_t *first,
                 size_t *last);

#endif
