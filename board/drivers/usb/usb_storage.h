/* A USB drive as a block device: Bulk-Only Transport 1.0, SCSI commands, at a port of an xHCI. The
 * transport has one command at a time; requests wait in a queue. */
#ifndef INGOT_BOARD_DRIVERS_USB_USB_STORAGE_H
#define INGOT_BOARD_DRIVERS_USB_USB_STORAGE_H

#include "board/block_device.h"
#include "board/drivers/usb/xhci.h"

enum {
    USB_STORAGE_DEPTH = 4,
    USB_STORAGE_SECTORS = 4096, /* longest request, and longest command at SuperSpeed: 2 MiB */
    USB_STORAGE_FEW = 512,      /* longest command at other speeds, or to a drive that failed with
                              more */
    USB_STORAGE_LEAST = 64,     /* some take no longer command (Linux: US_FL_MAX_SECTORS_64) */
    USB_STORAGE_NAME_BYTES = 64,
    USB_STORAGE_ANSWER = 256,
    USB_STORAGE_BLOCK = 4096, /* largest block that a drive may have */
};

/* All state of a drive; zeroed by usb_storage_open, except for its name. It is attached while
 * device.slot is not 0. */
struct usb_storage {
    struct xhci_device device;
    _Alignas(64) uint8_t command[64]; /* the wrappers, each in a separate cache line */
    _Alignas(64) uint8_t status[64];
    _Alignas(64) uint8_t answer[USB_STORAGE_ANSWER];
    _Alignas(64) uint8_t edge[USB_STORAGE_BLOCK]; /* a block that a request covers only in part */
    _Alignas(64) struct usb_ends ends;
    struct xhci *host;
    enum { USB_IDLE, USB_SENDING, USB_RECEIVING, USB_STATUS } phase;
    enum usb_outcome outcome; /* result of the last command, valid when idle */
    uint32_t tag, left;
    uint8_t unit;       /* number of the drive's logical unit */
    uint8_t last_unit;  /* and that of its device's last one */
    bool came_whole;    /* the controller saw all data of the last command */
    bool wrong_residue; /* the residue that the drive reports is meaningless */
    bool no_modes;      /* the drive did not survive MODE SENSE */
    uint32_t idle_polls;
    bool stalled, flushing;
    bool stopped; /* the next submit looks for the drive again */
    bool read_only;
    uint64_t n_sectors;
    uint32_t block_sectors; /* sectors in one of the drive's blocks */
    uint32_t moved, part;   /* sectors of the first request: already moved, and in the current
                               command */
    unsigned n_long_failed; /* 0 to 2: long commands that failed or had no answer. After the first,
                               and again after the second, commands are shorter */
    bool at_edge, has_read_edge; /* the command moves a block that the request covers only in
                                    part */
    uint32_t place, port, route; /* where the drive was last found: see struct xhci_device */
    uint32_t tried;              /* a place that start need not try; 0: none */
    bool is_here; /* the drive was there, or the device there may be the drive: see usb.c */
    uint32_t identity, serial; /* maker and product, and a hash of the serial number; 0: none */
    uint64_t print; /* hash of the medium's first blocks, which differ between cards; 0: they could
                       not be read */
    bool has_twin;  /* only its port distinguishes this drive from another one that was here; never
                       cleared, because the other one may come back */
    struct block_request *row[USB_STORAGE_DEPTH];
    uint32_t n_row;
    const char *why;
    /* The last member, because usb_storage_open does not zero it: if no new drive is found, the
     * name of the slot's earlier drive stays. */
    char name[USB_STORAGE_NAME_BYTES];
};

/* Find the first drive at the places from `first` to `last` of a started controller, and fill *out.
 * If the drive cannot be used, out->error_message says why. s->place is the drive's place.
 * ERR_NO_DEVICE: there is no drive. */
enum err usb_storage_open(struct usb_storage *s, struct xhci *host, uint32_t first, uint32_t last,
                          struct block_device *out);

/* Look for a released drive at these places, and take it again. ERR_NO_DEVICE: no device there has
 * the drive's numbers. ERR_REMOVED: a device has them, but is another drive, has another card, or
 * has its card in another slot. Other errors: if s->why is NULL, the last device gave no answer;
 * else a device with the drive's numbers is refused. */
enum err usb_storage_take(struct usb_storage *s, uint32_t first, uint32_t last);

/* Take a released drive again, first at its own place, because a drive with the same numbers may be
 * at another place. Afterwards s->is_here tells whether the device at its own place may be the
 * drive. No place is tried twice. Errors are those of usb_storage_take, but ERR_NO_DEVICE may also
 * mean that the device at its own place gave no answer, and that no other device is the drive. If
 * the device that counted as the drive is another one, x->news marks it as new to drives. */
enum err usb_storage_take_again(struct usb_storage *s, uint32_t first, uint32_t last);

/* Name the device that was tried last by its place: "USB drive at 0xfd500000, port 2", or "port
 * 2.1.4" behind two hubs. name has USB_STORAGE_NAME_BYTES. */
void usb_storage_name(const struct usb_storage *s, char *name);

/* Release the drive, so that nothing arrives in a buffer that is returned. If the drive's endpoints
 * do not stop, stop the whole controller. */
void usb_storage_let_go(struct usb_storage *s);

/* True if another drive has the same numbers and size, and its first blocks do not differ or could
 * not be read. */
bool usb_storage_is_equal(const struct usb_storage *s, const struct usb_storage *other);

/* True if a drive with a released drive's numbers may be that drive: if that has no serial number, or
 * a twin, only at its port. */
bool usb_storage_may_be(const struct usb_storage *s, const struct usb_storage *other);

/* True if a new drive has all numbers and the first blocks of a released one. */
bool usb_storage_is(const struct usb_storage *s, const struct usb_storage *new);

/* Release the drive if it was pulled. */
void usb_storage_look(struct usb_storage *s);

/* Ask the reader of an attached, idle drive for its card, or for that of a released drive in another
 * slot. If the own card was changed, or the other one is back, release s and mark its place as new
 * to drives. If s has open files (in_use) and its card is there, s stays. */
void usb_storage_ask_card(struct usb_storage *s, const struct usb_storage *released, bool in_use);

/* Ask an attached, idle drive whether its card is there. If not, release s and mark its place as new
 * to drives. */
bool usb_storage_has_card(struct usb_storage *s);

/* Wait for at most this time until nothing is in flight, and return true if so; read-ahead data
 * that nobody took may have arrived by then. Also true if only a start of the controller can end
 * the requests. */
bool usb_storage_rests(struct usb_storage *s, uint32_t ms);

#endif
