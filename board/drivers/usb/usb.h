/* The devices at a USB controller: drives and one keyboard, at its own ports or behind a hub
 * there. */
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
    bool is_told[USB_DRIVES]; /* set by usb_open and usb_look: it is attached */
    unsigned n_drives;
    struct block_device refused; /* one too many */
    struct usb_keyboard keyboard;
    uint64_t looked, looked_for_drives; /* at the ports, by ticks */
    uint32_t starts;                    /* starts of the controller, counted when all ports were
                                         * looked at */
};

/* Start the controller and find what is there; one that u had before is stopped. Returns how
 * many devices were put into out, at most `most`: drives, in the order of their ports, or one
 * for the controller; its `error_message` may say why it cannot be used. 0: there is no
 * controller, or no drive; a keyboard may be there, or come. */
unsigned usb_open(struct usb *u, const struct xhci_setup *setup, struct block_device **out,
                  unsigned most);

/* The next byte that was typed, or -1: a source for serial_join. Sees keyboards come and go. */
int usb_take(void *usb);

/* A drive that came, went or came back since the last answer, at any controller of the machine: its
 * error_message says why it cannot be used, or that it was unplugged. A new drive is ignored if
 * every slot is taken. A device that is `in_use` stays with its drive; another may be given to a
 * new drive. NULL: no drive changed. Called on core 0, while no data is waited for: it may take as
 * long as a drive takes to get ready. */
struct block_device *usb_look(void);

/* Whether a keyboard is attached to any controller. */
bool usb_has_keyboard(void);

/* The layout of every keyboard from now on, enum keyboard_layout_name. */
void usb_set_layout(unsigned layout);

#endif
