#include "boot/platform.h"

#include "boot/platform_from_board.h"
#include "boot/boot.h"

static uint32_t features(void *context, unsigned n)
{
    (void)context;
    return cpu_features_common(n);
}

void board_platform(struct platform *p, const struct machine *machine)
{
    platform_from_board(p, machine, features);
}
