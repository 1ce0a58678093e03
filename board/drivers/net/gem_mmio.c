/* The registers themselves; everything else of the driver goes through these two. */
#include "board/drivers/net/gem.h"

uint32_t gem_read(const struct gem *g, unsigned reg)
{
    return *(const volatile uint32_t *)(g->setup.mmio + reg);
}

void gem_write(const struct gem *g, unsigned reg, uint32_t value)
{
    *(volatile uint32_t *)(g->setup.mmio + reg) = value;
}
