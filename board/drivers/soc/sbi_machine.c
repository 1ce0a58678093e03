#include "board/drivers/soc/sbi_machine.h"

#include "board/board.h"
#include "board/drivers/serial/serial.h"
#include "board/drivers/soc/sbi.h"
#include "board/isa.h"

static struct sbi_machine {
    struct device_tree tree;
    uint64_t ticks_hz;
    uint64_t harts[BOARD_MAX_CORES]; /* by core number: the hart that booted is core 0 */
    unsigned n_harts;
} the;

const struct device_tree *sbi_machine_init(const void *dtb, uint64_t timebase_hz)
{
    uint64_t hz;

    the.ticks_hz = timebase_hz;
    if (dtb == NULL || device_tree_open(&the.tree, dtb, device_tree_bytes(dtb)) != ERR_OK)
        return &the.tree;
    hz = device_tree_timebase(&the.tree);
    the.ticks_hz = hz != 0 ? hz : timebase_hz;
    the.n_harts = device_tree_cpus(&the.tree, core_hardware_id(), the.harts, BOARD_MAX_CORES);
    return &the.tree;
}

uint64_t sbi_machine_ticks_hz(void)
{
    return the.ticks_hz;
}

enum err sbi_machine_start_core(unsigned core, void (*entry)(void *arg), void *arg)
{
    if (core == 0 || core >= the.n_harts)
        return ERR_NO_DEVICE;
    return sbi_hart_start(the.harts[core], core_prepare(core, entry, arg), core);
}

void sbi_machine_restart(void)
{
    serial_drain();
    sbi_restart(0);
}

_Noreturn void sbi_machine_power_off(int status)
{
    serial_drain();
    sbi_power_off(status != 0);
    sbi_shutdown_legacy();
    core_halt();
}
