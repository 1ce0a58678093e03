/* Accesses to the registers; the rest of the driver uses only these two functions. */
#include "board/drivers/usb/xhci_registers.h"

uint32_t xhci_read(const struct xhci *x, unsigned reg)
{
    return *(const volatile uint32_t *)(x->setup.mmio + reg);
}

void xhci_write(const struct xhci *x, unsigned reg, uint32_t value)
{
    *(volatile uint32_t *)(x->setup.mmio + reg) = value;
}
