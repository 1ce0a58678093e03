/* struct platform for a Linux process. */
#ifndef INGOT_BOARD_HOST_HOST_PLATFORM_H
#define INGOT_BOARD_HOST_HOST_PLATFORM_H

#include "board/board.h"
#include "runtime/base/platform.h"

/* Fill *p from the host's `board`. machine: as host_machine filled it; it must outlive p. If
 * machine is NULL, the platform has no memory, because the caller has its own arena. */
void host_platform(struct platform *p, const struct machine *machine);

#endif
