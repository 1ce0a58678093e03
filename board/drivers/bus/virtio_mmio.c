/* The registers themselves; everything else goes through these three. */
#include "board/drivers/bus/virtio.h"

uint32_t virtio_read(uintptr_t mmio, unsigned reg)
{
    return *(const volatile uint32_t *)(mmio + reg);
}

uint8_t virtio_read_byte(uintptr_t mmio, unsigned reg)
{
    return *(const volatile uint8_t *)(mmio + reg);
}

void virtio_write(uintptr_t mmio, unsigned reg, uint32_t value)
{
    *(volatile uint32_t *)(mmio + reg) = value;
}
