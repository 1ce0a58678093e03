/* A RISC-V machine as SBI firmware hands it over: its tree, its clock, its harts, its power. There
 * is one, so that a board puts these functions into its struct board as they are. */
#ifndef INGOT_BOARD_DRIVERS_SOC_SBI_MACHINE_H
#define INGOT_BOARD_DRIVERS_SOC_SBI_MACHINE_H

#include <stdint.h>

#include "board/device_tree.h"
#include "board/err.h"

/* Read the tree at dtb, NULL where there is none: then no other hart can be started, and the `time`
 * counter is taken to have `timebase_hz`. Harts that cannot work (device_tree_next_cpu) get no
 * number. Returns the tree, which stays; its blob is NULL where there is none. */
const struct device_tree *sbi_machine_init(const void *dtb, uint64_t timebase_hz);

/* board.ticks_hz and board.start_core. */
uint64_t sbi_machine_ticks_hz(void);
enum err sbi_machine_start_core(unsigned core, void (*entry)(void *arg), void *arg);

/* board.restart: SRST. board.power_off: SRST, else the call from before it, else the hart sleeps. */
void sbi_machine_restart(void);
void sbi_machine_power_off(int status) __attribute__((noreturn));

#endif
