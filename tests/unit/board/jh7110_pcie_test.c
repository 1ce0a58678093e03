/* JH7110: the devices of a PCIe port are not looked for if U-Boot has not woken it, or if it has no
 * link. */
#include "board/drivers/bus/jh7110_pcie.h"

#include <string.h>

#include "tests/unit/tap.h"

static uint32_t crg[JH7110_STG_CRG_BYTES / 4], syscon[JH7110_STG_SYSCON_BYTES / 4];
static const struct jh7110_stg stg = { (uintptr_t)crg, (uintptr_t)syscon };

/* U-Boot found a drive at port 1 and nothing at port 0, which it holds in reset again. */
static void firmware(void)
{
    memset(crg, 0, sizeof crg);
    memset(syscon, 0, sizeof syscon);
    for (unsigned clock = 11; clock <= 13; clock++)
        crg[clock] = 1u << 31;
    crg[0x78 / 4] = 0x3fu << 17;
    syscon[0x368 / 4] = 1 << 5;
}

int main(void)
{
    firmware();
    OK(jh7110_pcie_is_up(&stg, 1) && !jh7110_pcie_is_up(&stg, 0), "port 1 is up, port 0 is not");
    for (unsigned clock = 11; clock <= 13; clock++) {
        firmware();
        crg[clock] = 0x7fffffff;
        OK(!jh7110_pcie_is_up(&stg, 1), "clock %u is off", clock);
    }
    for (unsigned reset = 17; reset <= 22; reset++) {
        firmware();
        crg[0x78 / 4] &= ~(1u << reset);
        OK(!jh7110_pcie_is_up(&stg, 1), "reset %u is on", reset);
    }
    firmware();
    syscon[0x368 / 4] = ~(1u << 5);
    OK(!jh7110_pcie_is_up(&stg, 1), "there is no link");
    firmware();
    for (unsigned clock = 8; clock <= 10; clock++)
        crg[clock] = 1u << 31;
    crg[0x78 / 4] |= 0x3fu << 11;
    OK(!jh7110_pcie_is_up(&stg, 0), "port 0 is down without a link");
    syscon[0x1b8 / 4] = 1 << 5;
    OK(jh7110_pcie_is_up(&stg, 0) && jh7110_pcie_is_up(&stg, 1), "both ports have a link");
    return tap_done();
}
