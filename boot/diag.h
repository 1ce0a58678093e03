/* The word `diag`: what the machine says of itself, in lines of "diag NAME: VALUE" in the log, to send back from
 * a board that nobody has seen yet (docs/BRINGUP.md). */
#ifndef INGOT_BOOT_DIAG_H
#define INGOT_BOOT_DIAG_H

#include "board/board.h"
#include "runtime/console/console.h"

/* Log all facts: of the machine, of its cores, of the board, and of its n storage devices, which were found
 * before. Reads registers, and asks the firmware; changes nothing. */
void diag_report(struct console *c, const struct machine *machine,
                 struct block_device *const devices[], unsigned n);

#endif
