/* Accesses to the registers; the rest of the driver uses only these two functions. */
#include "board/drivers/block/nvme_registers.h"

uint32_t nvme_read(const struct nvme *n, unsigned reg)
{
    return *(const volatile uint32_t *)(n->setup.mmio + reg);
}

void nvme_write(const struct nvme *n, unsigned reg, uint32_t value)
{
    *(volatile uint32_t *)(n->setup.mmio + reg) = value;
}
