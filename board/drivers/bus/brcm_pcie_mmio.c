/* Accesses to the registers; the rest of the driver uses only these two functions. */
#include "board/drivers/bus/brcm_pcie.h"

uint32_t brcm_pcie_read(uintptr_t at)
{
    return *(const volatile uint32_t *)at;
}

void brcm_pcie_write(uintptr_t at, uint32_t value)
{
    *(volatile uint32_t *)at = value;
}
