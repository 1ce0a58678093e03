/* The processor time that this program and all others leave. */
#ifndef INGOT_BOARD_HOST_HOST_IDLE_H
#define INGOT_BOARD_HOST_HOST_IDLE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Thousandths of a processor, over all processors that this process may use, that were idle since
 * the last call, to about ten milliseconds; -1: not known, as in the first call. Only one thread
 * may call it. */
int host_idle_processors(void);

/* Ticks (sysconf(_SC_CLK_TCK) a second) that the processors of `set` have been idle or have waited for a disk, by
 * /proc/stat. False: one of them is not told of, or not in numbers.
 * Source: proc(5). */
bool host_idle_ticks(FILE *stat, const cpu_set_t *set, uint64_t *ticks);

#endif
