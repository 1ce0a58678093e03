/* The block next to the four cores of BCM2836 and BCM2837 (Broadcom QA7, "ARM Quad A7 core",
 * revision 3.4). The block wakes cores, which sleep in WFI until another core sends them an
 * interrupt, and it passes device interrupts from the older controller on to core 0 (BCM2835 ARM
 * Peripherals, chapter 7). Interrupts are masked while a core sleeps; a pending interrupt still
 * ends WFI. */
#ifndef INGOT_BOARD_DRIVERS_IRQ_BCM_LOCAL_H
#define INGOT_BOARD_DRIVERS_IRQ_BCM_LOCAL_H

#include <stdint.h>

enum { BCM_LOCAL_BYTES = 0x100, BCM_LOCAL_CORES = 4, BCM_INTERRUPTS_BYTES = 0x28 };
enum { BCM_LOCAL_TIMER_LINE = 64 + 3 }; /* the virtual timer's line, above BCM2835's numbers */

/* Let wake-ups reach the calling core, whose number is `core`. Call this before the core sleeps or
 * others wake it. The registers at `base` are mapped as device memory. */
void bcm_local_listen(uintptr_t base, unsigned core);

/* Wake every core except `core`, the calling one. The cores that wake see all stores made before
 * the call. */
void bcm_local_wake_others(uintptr_t base, unsigned core);

/* Sleep until a wake-up arrives, and clear it. A wake-up since the last sleep ends this one at
 * once, so that none is lost. The caller checks the awaited word before and after. */
void bcm_local_sleep(uintptr_t base, unsigned core);

/* Deliver interrupts 0 to 63 of BCM2835's controller at `interrupts` to core 0, the calling one:
 * irq_take() works from here on (board/interrupt.h). Interrupts that firmware left on in either
 * block are turned off first. The registers of both blocks are mapped as device memory. */
void bcm_local_init(uintptr_t base, uintptr_t interrupts);

#endif
