/* How much of each job every core gets: equal parts, or as the device tree says of unequal cores, until measurements say that
 * some cores take longer for theirs. Then parts follow what each does in a time, whatever makes it slow: another kind of
 * core, its clock, a card that it moves bytes from; and they follow again when that drifts. Only whole steps of a job change
 * hands, so no bit of a result depends on it. A file of its own, without threads: workers.c calls it. */
#ifndef INGOT_RUNTIME_SHARES_H
#define INGOT_RUNTIME_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/machine.h"

enum { SHARES_SAMPLES = 15 }; /* jobs measured before a decision */

struct shares {
    unsigned n_cores;
    uint32_t before[BOARD_MAX_CORES + 1]; /* the weights of cores 0 .. i - 1 together */
    uint32_t n_jobs;                      /* since the last one that was measured */
    uint32_t every;                       /* so many jobs, one is measured */
    uint32_t n_samples;
    uint16_t speeds[BOARD_MAX_CORES][SHARES_SAMPLES]; /* of all cores' in a job, of 65535 */
};

/* Cores 0 .. n_cores - 1, nothing measured. capacity (n_cores): what each does in a time beside the others, each at least 1;
 * NULL, and where all are alike: equal parts. */
void shares_begin(struct shares *s, unsigned n_cores, const uint32_t *capacity);

/* Whether each core gets as much as the others, and what one gets in a hundred. */
bool shares_are_equal(const struct shares *s);
unsigned shares_percent(const struct shares *s, unsigned core);

/* A job begins: whether it is to be measured. */
bool shares_measures(struct shares *s);

/* Such a job has ended; busy (n_cores): how long each core was at work in it, in any unit; given (n_cores): how much of the
 * job it got, in any unit, as steps are whole and parts are not exactly the shares. Jobs too short to measure, or of which a
 * core got nothing, count as none. */
void shares_take(struct shares *s, const uint64_t *busy, const uint32_t *given);

/* The part [*first, *last) of n items, in whole steps of `step` items, that this core gets. No other cut into whole steps
 * ends sooner, if each core has the speed that it is known by. */
void shares_part(const struct shares *s, unsigned core, size_t n, size_t step, size_t *first,
                 size_t *last);

#endif
