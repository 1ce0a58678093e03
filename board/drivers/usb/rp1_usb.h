/* The four USB sockets of a Pi 5: two controllers in RP1. The driver has not yet run on hardware,
 * and no emulator has the controllers. */
#ifndef INGOT_BOARD_DRIVERS_USB_RP1_USB_H
#define INGOT_BOARD_DRIVERS_USB_RP1_USB_H

#include "board/drivers/bus/rp1_link.h"
#include "board/drivers/usb/usb.h"

enum { RP1_USB_CONTROLLERS = 2 };

/* Zeroed by its owner. */
struct rp1_usb {
    struct rp1_link link;
    struct usb usb[RP1_USB_CONTROLLERS];
    struct block_device error_message;
};

/* Find drives and keyboards at both controllers. port: registers of RP1's PCIe port. Returns the
 * number of drives in out, at most `most`; one that cannot be used has only an `error_message`. */
unsigned rp1_usb_open(struct rp1_usb *r, uintptr_t port, uint64_t (*ticks)(void), uint64_t ticks_hz,
                      struct block_device **out, unsigned most);

#endif
