/* The Arm generic timer's counter (Arm ARM D12): one clock for all cores, read as a register. */
#ifndef INGOT_BOARD_DRIVERS_GENERIC_TIMER_H
#define INGOT_BOARD_DRIVERS_GENERIC_TIMER_H

#include <stdint.h>

/* Counts since reset; works from the first instruction on. */
uint64_t generic_timer_ticks(void);

/* Counts per second as the firmware set it. */
uint64_t generic_timer_hz(void);

#endif
