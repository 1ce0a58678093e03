/* Shared by the driver's files: the transport, one command at a time (usb_transport.c), the
 * questions at a drive's start (usb_scsi.c), and its place (usb_storage_take.c). */
#ifndef INGOT_BOARD_DRIVERS_USB_USB_STORAGE_PRIVATE_H
#define INGOT_BOARD_DRIVERS_USB_USB_STORAGE_PRIVATE_H

#include "board/drivers/usb/usb_storage.h"

enum { /* sense keys and codes: SPC-4, 4.5.6 */
       KEY_RECOVERED = USB_KEY_RECOVERED,
       KEY_NOT_READY = 2,
       KEY_ILLEGAL = 5,
       KEY_ATTENTION = 6,
       MEDIUM_CHANGED = 0x28,
       NO_MEDIUM = 0x3a,
};

/* Begin a command and its data; when it has ended, the phase is USB_IDLE again. */
void usb_storage_send(struct usb_storage *s, const uint8_t *cdb, uint8_t cdb_bytes, void *data,
                      uint32_t bytes, bool write);

/* Process an event of the drive, of any kind. */
void usb_storage_take_event(struct usb_storage *s, const struct xhci_trb *event);

/* Run one command that reads, and wait for its end, at most this time. The data begin and end with
 * cache lines. */
enum usb_outcome usb_storage_run_into(struct usb_storage *s, const uint8_t *cdb, uint8_t cdb_bytes,
                                      void *data, uint32_t bytes, uint32_t ms);

/* The same in at most 5 s, with data in s->answer, whose remaining bytes are zero. */
enum usb_outcome usb_storage_run(struct usb_storage *s, const uint8_t *cdb, uint8_t cdb_bytes,
                                 uint32_t bytes);

/* The same for the first commands after a drive is taken. A new drive gets 20 s, because a bridge
 * may answer only when its disk spins; a known one gets 5 s, because a request waits for it. */
enum usb_outcome usb_storage_run_first(struct usb_storage *s, const uint8_t *cdb, uint8_t cdb_bytes,
                                       uint32_t bytes);

/* Ask why the last command failed, which also clears the reason: the sense key and *code. */
unsigned usb_storage_sense(struct usb_storage *s, unsigned *code);

/* True if a disk with this sense starts to spin by itself, or after a command. */
bool usb_storage_spins_up(unsigned key, unsigned code);

/* Find the unit, the size and the first blocks of a drive that is addressed and configured, and
 * whether it refuses writes. A drive that was here before must have the same. Most errors set
 * s->why. ERR_IO with s->no_modes: start the drive again, without the command after which it fell
 * silent. */
enum err usb_storage_learn(struct usb_storage *s);

/* Ask for the card in the slot of a drive of the same reader, or of s itself; s is attached. ERR_OK:
 * it has the drive's size and first blocks. ERR_REMOVED: it has others, or was changed.
 * ERR_NO_DEVICE: there is no card. ERR_BUSY: the card is not ready, or cannot be read.
 * ERR_IO: no answer. */
enum err usb_storage_ask_slot(struct usb_storage *s, const struct usb_storage *of);

#endif
