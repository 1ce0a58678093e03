/* The part of a DesignWare USB 3.0 controller that makes it an xHCI controller. */
#ifndef INGOT_BOARD_DRIVERS_USB_DWC3_H
#define INGOT_BOARD_DRIVERS_USB_DWC3_H

#include <stdint.h>

#include "board/err.h"

/* Switch the controller to host mode, before xhci_start; its registers, from those of xHCI on, are
 * mapped. Takes less than half a second; no time if the firmware has already done it.
 * ERR_NO_DEVICE: there is no such controller. */
enum err dwc3_make_host(uintptr_t mmio, uint64_t (*ticks)(void), uint64_t ticks_hz);

/* These are in dwc3_mmio.c, which a test replaces by a simulated controller. Only whole words are
 * read: narrower accesses give garbage (xhci_mmio.c). */
uint32_t dwc3_read(uintptr_t at);
void dwc3_write(uintptr_t at, uint32_t value);

#endif
