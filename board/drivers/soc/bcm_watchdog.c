#include "board/drivers/soc/bcm_watchdog.h"

enum { PM_RSTC = 0x1c, PM_RSTS = 0x20, PM_WDOG = 0x24 };

#define PM_PASSWORD 0x5a000000u /* must be in the top byte of every write */

enum { RSTC_CONFIG = 3 << 4, RSTC_FULL_RESET = 2 << 4 };
enum { RSTS_WATCHDOG_FULL = 1 << 5 };
/* Bits 0, 2, 4, 6, 8 and 10 are the number of the partition from which the firmware boots; 63 means
 * halt. */
enum { RSTS_PARTITION = 0x555 };
enum { WDOG_HZ = 65536, WDOG_TICKS = 0xfffff, SHORTLY = 10 };

static volatile uint32_t *reg(uintptr_t base, unsigned offset)
{
    return (volatile uint32_t *)(base + offset);
}

static void start(uintptr_t base, uint32_t ticks)
{
    *reg(base, PM_WDOG) = PM_PASSWORD | (ticks & WDOG_TICKS);
    *reg(base, PM_RSTC) = PM_PASSWORD | (*reg(base, PM_RSTC) & 0xffffffu & ~(uint32_t)RSTC_CONFIG) |
                          RSTC_FULL_RESET;
}

static void choose_partition(uintptr_t base, uint32_t bits)
{
    uint32_t status = *reg(base, PM_RSTS) & 0xffffffu & ~(uint32_t)RSTS_PARTITION;

    *reg(base, PM_RSTS) = PM_PASSWORD | status | bits;
}

void bcm_watchdog_arm(uintptr_t base, uint32_t millis)
{
    if (millis != 0)
        start(base, (uint32_t)((uint64_t)millis * WDOG_HZ / 1000));
    else
        *reg(base, PM_RSTC) = PM_PASSWORD |
                              (*reg(base, PM_RSTC) & 0xffffffu & ~(uint32_t)RSTC_CONFIG);
}

bool bcm_watchdog_restarted(uintptr_t base)
{
    return (*reg(base, PM_RSTS) & RSTS_WATCHDOG_FULL) != 0;
}

uint32_t bcm_watchdog_status(uintptr_t base)
{
    return *reg(base, PM_RSTS);
}

void bcm_watchdog_restart(uintptr_t base)
{
    choose_partition(base, 0);
    start(base, SHORTLY);
}

void bcm_watchdog_halt(uintptr_t base)
{
    choose_partition(base, RSTS_PARTITION);
    start(base, SHORTLY);
}
