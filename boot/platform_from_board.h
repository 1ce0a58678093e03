/* Implements struct platform with `board`, for the image and for the Linux program. */
#ifndef INGOT_BOARD_PLATFORM_FROM_BOARD_H
#define INGOT_BOARD_PLATFORM_FROM_BOARD_H

#include "board/board.h"
#include "runtime/base/platform.h"

/* Fill *p from `board`, which has found its devices (board.early_init), and from *machine; both
 * outlive *p. features: see struct platform_cores. Core 0 only. */
void platform_from_board(struct platform *p, const struct machine *machine,
                         uint32_t (*features)(void *context, unsigned n));

#endif
