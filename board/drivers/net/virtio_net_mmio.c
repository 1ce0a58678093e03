/* The registers themselves; everything else of the driver goes through these three. */
#include "board/drivers/net/virtio_net.h"

uint32_t virtio_net_read(const struct virtio_net *v, unsigned reg)
{
    return *(const volatile uint32_t *)(v->mmio + reg);
}

void virtio_net_write(const struct virtio_net *v, unsigned reg, uint32_t value)
{
    *(volatile uint32_t *)(v->mmio + reg) = value;
}

/* Section 4.2.2.2: fields of the configuration are read in their own width. */
uint8_t virtio_net_read_byte(const struct virtio_net *v, unsigned reg)
{
    return *(const volatile uint8_t *)(v->mmio + reg);
}
