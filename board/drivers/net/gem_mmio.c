/* Access to the registers; the rest of the driver uses only these two functions. */
#include "board/drivers/net/gem.h"

uint32_t gem_read(const struct gem *g, unsigned reg)
{
    return *(const volatile uint32_t *)(g->setup.mmio + reg);
}

void gem_write(const struct gem *g, unsigned reg, uint32_t value)
{
    *(volatile uint32_t *)(g->setup.mmio + reg) = value;
}
