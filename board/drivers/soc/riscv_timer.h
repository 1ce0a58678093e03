/* The time CSR of RISC-V (Zicntr): one counter for all harts. */
#ifndef INGOT_BOARD_DRIVERS_SOC_RISCV_TIMER_H
#define INGOT_BOARD_DRIVERS_SOC_RISCV_TIMER_H

#include <stdint.h>

/* The counter; its rate is the device tree's timebase-frequency (device_tree_timebase). */
uint64_t riscv_timer_ticks(void);

#endif
