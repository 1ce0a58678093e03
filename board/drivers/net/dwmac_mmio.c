#include "board/drivers/net/dwmac.h"

uint32_t dwmac_read(const struct dwmac *d, unsigned reg)
{
    return *(const volatile uint32_t *)(d->setup.mmio + reg);
}

void dwmac_write(const struct dwmac *d, unsigned reg, uint32_t value)
{
    *(volatile uint32_t *)(d->setup.mmio + reg) = value;
}
