/* The host's board as a platform; it finds no cards and has no watchdog, so many functions stay
 * NULL. */
#include "board/host/host_platform.h"

#include "board/host/host_board.h"
#include "board/host/host_cpu.h"
#include "boot/platform_from_board.h"

static uint32_t features(void *context, unsigned n)
{
    (void)context;
    (void)n; /* all processors are alike */
    return host_cpu_features();
}

static void to_log(void *context, bool on)
{
    (void)context;
    host_console_to_log(on);
}

void host_platform(struct platform *p, const struct machine *machine)
{
    static struct machine process; /* a machine without memory */

    if (machine == NULL) {
        process.n_cores = BOARD_MAX_CORES;
        process.tuning = host_cpu_tuning();
        process.entry_ticks = board.ticks();
        machine = &process;
    }
    platform_from_board(p, machine, features);
    p->console.to_log = to_log;
}
