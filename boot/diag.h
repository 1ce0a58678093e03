/* The option `diag`: facts about the machine, in log lines "diag NAME: VALUE". Users of a board
 * that nobody has tried yet can send us these lines (docs/BRINGUP.md). */
#ifndef INGOT_BOOT_DIAG_H
#define INGOT_BOOT_DIAG_H

#include "board/board.h"
#include "runtime/console/console.h"

/* Log all facts about the machine, its cores, the board, and its n storage devices, which were
 * found before. Reads registers and asks the firmware; changes nothing. */
void diag_report(struct console *c, const struct machine *machine,
                 struct block_device *const devices[], unsigned n);

#endif
