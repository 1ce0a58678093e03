/* Reset and watchdog of the BCM2835 family, in the power management block. BCM2835 ARM Peripherals
 * does not describe its registers; names and bits are from eLinux, "BCM2835 registers", PM. */
#ifndef INGOT_BOARD_DRIVERS_SOC_BCM_WATCHDOG_H
#define INGOT_BOARD_DRIVERS_SOC_BCM_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

enum { BCM_WATCHDOG_BYTES = 0x28, BCM_WATCHDOG_MAX_MILLIS = 15999 };

/* Restart after `millis` (1 to BCM_WATCHDOG_MAX_MILLIS), unless this is called again earlier; 0
 * switches the watchdog off. The registers at `base` are mapped as device memory. */
void bcm_watchdog_arm(uintptr_t base, uint32_t millis);

/* True if this block caused the last restart, by its watchdog or by bcm_watchdog_restart. */
bool bcm_watchdog_restarted(uintptr_t base);

/* The whole reset status, for a person to read. */
uint32_t bcm_watchdog_status(uintptr_t base);

/* Restart now. The second function stops the machine forever: it leaves a mark that makes the
 * firmware sleep after the reset. Both functions return, and the machine is reset within a
 * millisecond. */
void bcm_watchdog_restart(uintptr_t base);
void bcm_watchdog_halt(uintptr_t base);

#endif
