/* The devices of a USB controller: drives and one keyboard, at its own ports or behind
 * hubs. */
#ifndef INGOT_BOARD_DRIVERS_USB_USB_H
#define INGOT_BOARD_DRIVERS_USB_USB_H

#include "board/drivers/usb/usb_keyboard.h"
#include "board/drivers/usb/usb_storage.h"

enum { USB_DRIVES = 3, USB_CONTROLLERS = 4 }; /* drives of a controller; controllers of a machine */

/* Zeroed by its owner. */
struct usb {
    struct xhci host;
    struct usb_storage drives[USB_DRIVES];
    struct block_device devices[USB_DRIVES];
    bool is_told[USB_DRIVES]; /* last state that usb_open or usb_look reported: it is attached */
    unsigned n_drives;
    struct block_device refused; /* one too many */
    struct usb_keyboard keyboard;
    uint64_t looked, looked_for_drives; /* ticks of the last looks at the ports */
    uint32_t starts;                    /* number of the controller's start for which all ports were
                                           looked at */
};

/* Start the controller and find its devices; a controller that u had before is stopped. Returns the
 * number of devices in out, at most `most`: drives in the order of their ports, or one device that
 * stands for a controller, with an `error_message` why that cannot be used. Returns 0 if there is
 * no controller, or no drive; there may be a keyboard, now or later. */
unsigned usb_open(struct usb *u, const struct xhci_setup *setup, struct block_device **out,
                  unsigned most);

/* A source for serial_join: the next typed byte, or -1. Notices keyboards that come and go. */
int usb_take(void *usb);

/* Find a drive that came, went or came back since the last call, at any controller of the machine.
 * Its error_message says why it cannot be used, or that it was unplugged. NULL: no drive changed. A
 * new drive is ignored if every slot is taken. A device that is `in_use` stays with its drive;
 * another device may get a new drive. Call it on core 0 while no data are awaited, because a drive
 * may take long to get ready. */
struct block_device *usb_look(void);

/* True if a keyboard is attached to any controller. */
bool usb_has_keyboard(void);

/* Set the layout of all keyboards, an enum keyboard_layout_name. */
void usb_set_layout(unsigned layout);

#endif
