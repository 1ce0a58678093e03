#include "board/drivers/net/genet.h"

uint32_t genet_read(const struct genet *g, unsigned reg)
{
    return *(const volatile uint32_t *)(g->setup.mmio + reg);
}

void genet_write(const struct genet *g, unsigned reg, uint32_t value)
{
    *(volatile uint32_t *)(g->setup.mmio + reg) = value;
}
