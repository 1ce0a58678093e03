/* Accesses to the registers; everything else uses only these three functions. An image without
 * virtio_pci.c never calls virtio_use and has only registers of virtio-mmio. */
#include "board/drivers/bus/virtio.h"

#include <stddef.h>

static const struct virtio_registers *others;

void virtio_use(const struct virtio_registers *registers)
{
    others = registers;
}

/* True if the registers are on PCI: their locations are odd, but registers of virtio-mmio are
 * aligned (section 4.2.2). */
static bool has_others(uintptr_t location)
{
    return others != NULL && (location & 1) != 0;
}

uint32_t virtio_read(uintptr_t mmio, unsigned reg)
{
    if (has_others(mmio))
        return others->read(mmio, reg);
    return *(const volatile uint32_t *)(mmio + reg);
}

uint8_t virtio_read_byte(uintptr_t mmio, unsigned reg)
{
    if (has_others(mmio))
        return others->read_byte(mmio, reg);
    return *(const volatile uint8_t *)(mmio + reg);
}

void virtio_write(uintptr_t mmio, unsigned reg, uint32_t value)
{
    if (has_others(mmio))
        others->write(mmio, reg, value);
    else
        *(volatile uint32_t *)(mmio + reg) = value;
}
