/* Makes the board available to the runtime as a struct platform. */
#ifndef INGOT_BOOT_PLATFORM_H
#define INGOT_BOOT_PLATFORM_H

#include "board/board.h"
#include "runtime/base/platform.h"

/* Like platform_from_board (boot/platform_from_board.h),
 * but with the features that all cores have in common. */
void board_platform(struct platform *p, const struct machine *machine);

#endif
