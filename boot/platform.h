/* The board as the runtime sees it. */
#ifndef INGOT_BOOT_PLATFORM_H
#define INGOT_BOOT_PLATFORM_H

#include "board/board.h"
#include "runtime/base/platform.h"

/* Fill *p from `board`, which has found its devices (board.early_init), and from the machine, which
 * outlives it. Core 0. */
void board_platform(struct platform *p, const struct machine *machine);

#endif
