/* The registers themselves; everything else of the driver goes through these two. */
#include "board/drivers/block/virtio_registers.h"

uint32_t virtio_read(const struct virtio_blk *v, unsigned reg)
{
    return *(const volatile uint32_t *)(v->mmio + reg);
}

void virtio_write(const struct virtio_blk *v, unsigned reg, uint32_t value)
{
    *(volatile uint32_t *)(v->mmio + reg) = value;
}
