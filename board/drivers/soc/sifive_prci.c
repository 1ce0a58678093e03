#include "board/drivers/soc/sifive_prci.h"

#include "board/isa.h"

/* Registers have the names of the manual. */
enum {
    REG_CORE_PLL = 0x04,    /* corepllcfg0: divr 5..0, divf 14..6, divq 17..15 */
    REG_CORE_SELECT = 0x24, /* coreclksel: if bit 0 is set, the crystal is used, not the PLL */
    PRCI_BYTES = 0x1000,
    CRYSTAL_HZ = 33333333, /* hfclk */
};

static uint64_t core_hz(uintptr_t base)
{
    uint32_t pll = *(volatile uint32_t *)(base + REG_CORE_PLL);
    uint64_t divr = pll & 0x3f, divf = pll >> 6 & 0x1ff, divq = pll >> 15 & 7;

    if ((*(volatile uint32_t *)(base + REG_CORE_SELECT) & 1) != 0)
        return CRYSTAL_HZ;
    return CRYSTAL_HZ * 2 * (divf + 1) / (divr + 1) >> divq;
}

uint64_t sifive_prci_peripheral_hz(uintptr_t base)
{
    if (mmu_map(base, PRCI_BYTES, MAP_DEVICE) != ERR_OK)
        return 0;
    return core_hz(base) / 2;
}
