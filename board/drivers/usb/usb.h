/* What is at a USB controller: drives and one keyboard, at its own ports or behind a hub there. */
#ifndef INGOT_BOARD_DRIVERS_USB_USB_H
#define INGOT_BOARD_DRIVERS_USB_USB_H

#include "board/drivers/usb/usb_keyboard.h"
#include "board/drivers/usb/usb_storage.h"

enum { USB_DRIVES = 3 };

/* Zeroed by its owner. */
struct usb {
    struct xhci host;
    struct usb_storage drives[USB_DRIVES];
    struct block_device devices[USB_DRIVES];
    unsigned n_drives;
    struct usb_keyboard keyboard;
    uint64_t looked; /* at the ports, by ticks */
    uint32_t starts; /* of the controller, when all ports were looked at */
};

/* Start the controller and find what is there; one that u had before is stopped. Returns how many devices were put into
 * out, at most `most`: drives, in the order of their ports, or one for the controller; its `problem` may say why it cannot
 * be used. 0: there is no controller, or no drive; a keyboard may be there, or come. */
unsigned usb_open(struct usb *u, const struct xhci_setup *setup, struct block_device **out,
                  unsigned most);

/* The next byte that was typed, or -1: a source for serial_join. Sees keyboards come and go. */
int usb_take(void *usb);

/* Whether a keyboard is attached to the controller that was opened last. */
bool usb_has_keyboard(void);

/* The layout of every keyboard from now on, enum keyboard_layout_name. */
void usb_set_layout(unsigned layout);

#endif
