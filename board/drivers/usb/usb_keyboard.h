/* A USB keyboard in its boot protocol (Device Class Definition for HID 1.11), at a port of an
 * xHCI. */
#ifndef INGOT_BOARD_DRIVERS_USB_USB_KEYBOARD_H
#define INGOT_BOARD_DRIVERS_USB_USB_KEYBOARD_H

#include "board/drivers/usb/keyboard_keys.h"
#include "board/drivers/usb/xhci.h"

/* Zeroed by its owner. */
struct usb_keyboard {
    struct xhci_device device;
    _Alignas(64) uint8_t report[64];
    _Alignas(64) struct usb_ends ends;
    struct keyboard_keys keys;
    unsigned faults; /* number of consecutive failed reports */
    unsigned losses; /* number of times the keyboard was released since the last good report */
    bool lit;        /* the LED of Caps Lock is on */
};

/* Open the device at this place if it is a keyboard. */
enum err usb_keyboard_open(struct usb_keyboard *k, struct xhci *host, uint32_t place);

/* Turn received reports into bytes in k->keys. Returns false if the keyboard no longer works
 * and must be released. */
bool usb_keyboard_look(struct usb_keyboard *k, struct xhci *host);

/* Release the keyboard, because it is gone. Errors as xhci_detach. */
enum err usb_keyboard_close(struct usb_keyboard *k, struct xhci *host);

#endif
