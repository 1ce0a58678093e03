/* The part of a DesignWare USB 3.0 controller that makes it an xHCI controller. */
#ifndef INGOT_BOARD_DRIVERS_USB_DWC3_H
#define INGOT_BOARD_DRIVERS_USB_DWC3_H

#include <stdint.h>

#include "board/err.h"

/* Make a host of it, before xhci_start; its registers, from those of xHCI on, are mapped. Takes
 * less than half a second, and nothing if the firmware has already switched it to host mode.
 * ERR_NO_DEVICE: no such controller is there. */
enum err dwc3_make_host(uintptr_t mmio, uint64_t (*ticks)(void), uint64_t ticks_hz);

/* dwc3_mmio.c, in whose place a test has the controller. Only whole words: narrower accesses read
 * garbage (xhci_mmio.c). */
uint32_t dwc3_read(uintptr_t at);
void dwc3_write(uintptr_t at, uint32_t value);

#endif
