/* Measures the processor time that no program uses. */
#ifndef INGOT_BOARD_HOST_HOST_IDLE_H
#define INGOT_BOARD_HOST_HOST_IDLE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Return the idle time since the last call, summed over the processors that this process may use,
 * in thousandths of a processor, exact to about ten milliseconds; -1: not known, as in the first
 * call. Only one thread may call it. */
int host_idle_processors(void);

/* Read from /proc/stat how long the processors of `set` have been idle or have waited for a disk,
 * in ticks (sysconf(_SC_CLK_TCK) per second). Returns false if a processor is missing, or its line
 * has no numbers. Source: proc(5). */
bool host_idle_ticks(FILE *stat, const cpu_set_t *set, uint64_t *ticks);

#endif
