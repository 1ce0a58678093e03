/* The Arm generic timer's counter (DDI 0487, "The Generic Timer in AArch64 state"): one clock for
 * all cores, read as a register. */
#ifndef INGOT_BOARD_DRIVERS_SOC_GENERIC_TIMER_H
#define INGOT_BOARD_DRIVERS_SOC_GENERIC_TIMER_H

#include <stdint.h>

/* Ticks since reset; works from the first instruction on. */
uint64_t generic_timer_ticks(void);

/* Ticks per second, as the firmware has set them. */
uint64_t generic_timer_hz(void);

#endif
