#include "board/drivers/sbi_harts.h"

#include "board/drivers/sbi.h"
#include "board/isa.h"

void sbi_harts_read(struct sbi_harts *harts, const void *dtb, uint64_t timebase_hz)
{
    uint64_t hz;

    harts->ticks_hz = timebase_hz;
    if (dtb == NULL || device_tree_open(&harts->tree, dtb, device_tree_bytes(dtb)) != ERR_OK)
        return;
    hz = device_tree_timebase(&harts->tree);
    harts->ticks_hz = hz != 0 ? hz : timebase_hz;
    harts->n = device_tree_cpus(&harts->tree, core_hardware_id(), harts->ids, BOARD_MAX_CORES);
}

enum err sbi_harts_start(const struct sbi_harts *harts, unsigned core, void (*entry)(void *arg),
                         void *arg)
{
    if (core == 0 || core >= harts->n)
        return ERR_NO_DEVICE;
    return sbi_hart_start(harts->ids[core], core_prepare(core, entry, arg), core);
}
