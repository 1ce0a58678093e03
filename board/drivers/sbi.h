/* RISC-V Supervisor Binary Interface 1.0: harts on, machine off, through the firmware below. */
#ifndef INGOT_BOARD_DRIVERS_SBI_H
#define INGOT_BOARD_DRIVERS_SBI_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"

/* Start the hart at a physical address in S-mode, MMU off, with the hart id in a0 and `opaque` in
 * a1 (extension HSM). ERR_NO_DEVICE: no such hart, it runs already, or the firmware refused. */
enum err sbi_hart_start(uint64_t hart, uintptr_t entry, uint64_t opaque);

/* Switch the machine off, noting whether it failed (extension SRST, else the legacy call). Returns
 * where the firmware cannot. */
void sbi_shutdown(bool failed);

#endif
