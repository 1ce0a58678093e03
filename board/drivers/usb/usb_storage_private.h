/* Shared by the driver's files: the transport, one command at a time (usb_transport.c), and a
 * drive's start (usb_scsi.c). */
#ifndef INGOT_BOARD_DRIVERS_USB_USB_STORAGE_PRIVATE_H
#define INGOT_BOARD_DRIVERS_USB_USB_STORAGE_PRIVATE_H

#include "board/drivers/usb/usb_storage.h"

/* Begin a command and its data; the phase is USB_IDLE again when it has ended. */
void usb_storage_send(struct usb_storage *s, const uint8_t *cdb, uint8_t cdb_bytes, void *data,
                      uint32_t bytes, bool write);

/* An event of the drive, of any kind. */
void usb_storage_take_event(struct usb_storage *s, const struct xhci_trb *event);

/* One command to or from s->answer, waited for. */
enum usb_outcome usb_storage_run(struct usb_storage *s, const uint8_t *cdb, uint8_t cdb_bytes,
                                 uint32_t bytes);

/* Why the last command failed, the sense key and *code; which also clears it. */
unsigned usb_storage_sense(struct usb_storage *s, unsigned *code);

/* Find the unit, the size and the lock of a drive that is addressed and configured. Errors set
 * s->why mostly. ERR_IO with s->no_modes: start it again, without the question at which it fell
 * silent. */
enum err usb_storage_learn(struct usb_storage *s);

#endif
