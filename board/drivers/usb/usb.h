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
    bool is_told[USB_DRIVES]; /* usb_open or usb_look last reported the drive as present */
    unsigned n_drives;
    struct block_device
        refused; /* reports a device that cannot be used: one too many, or a refused one that may be
                    a drive with open files */
    char refused_name[USB_STORAGE_NAME_BYTES];
    struct usb_keyboard keyboard;
    uint64_t looked, looked_for_drives; /* ticks of the last looks at the ports */
    uint64_t restart;                   /* ticks before which looks do not start the controller */
    uint32_t last_place;                /* where usb_look last looked for a drive */
    uint32_t starts;                    /* host.starts when all ports were last looked at, after the
                                           controller's start */
};

/* Start the controller and find its devices; a controller that u had before is stopped. Returns the
 * number of devices in out, at most `most`: drives in the order of their ports, or, for an
 * unusable controller, one device whose `error_message` says why. Returns 0 if there is
 * no controller, or no drive; there may be a keyboard, now or later. */
unsigned usb_open(struct usb *u, const struct xhci_setup *setup, struct block_device **out,
                  unsigned most);

/* A source for serial_join: the next typed byte, or -1. Notices keyboards that come and go. */
int usb_take(void *usb);

/* Find a drive that came, went or came back, at any controller of the machine; each call takes only
 * one of a controller's new devices. The error_message of the returned device says why it cannot be
 * used, or that it was unplugged. NULL: no drive changed. A new drive is ignored if every slot is
 * taken. A device that is `in_use` stays with its drive; another device may get a new drive. Call
 * it on core 0 while no data are awaited, because a drive may take long to get ready. */
struct block_device *usb_look(void);

/* True if a keyboard is attached to any controller. */
bool usb_has_keyboard(void);

/* Set the layout of all keyboards, an enum keyboard_layout_name. */
void usb_set_layout(unsigned layout);

#endif
