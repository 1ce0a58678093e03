/* A USB drive as a block device: Bulk-Only Transport 1.0, SCSI commands, at a port of an xHCI. The
 * transport knows one command at a time; requests wait in a row. */
#ifndef INGOT_BOARD_DRIVERS_USB_USB_STORAGE_H
#define INGOT_BOARD_DRIVERS_USB_USB_STORAGE_H

#include "board/block_device.h"
#include "board/drivers/usb/xhci.h"

enum {
    USB_STORAGE_DEPTH = 4,
    USB_STORAGE_SECTORS = 4096, /* longest request, and longest command at SuperSpeed: 2 MiB */
    USB_STORAGE_FEW = 512,      /* longest command at other speeds, or to a drive that failed with
                            * more */
    USB_STORAGE_NAME_BYTES = 64,
    USB_STORAGE_ANSWER = 256,
    USB_STORAGE_BLOCK = 4096, /* the largest that a drive may have */
};

/* All state of a drive; zeroed by usb_storage_open. It is attached while device.slot is not 0. */
struct usb_storage {
    struct xhci_device device;
    _Alignas(64) uint8_t command[64]; /* the wrappers, each in a cache line of its own */
    _Alignas(64) uint8_t status[64];
    _Alignas(64) uint8_t answer[USB_STORAGE_ANSWER];
    _Alignas(64) uint8_t edge[USB_STORAGE_BLOCK]; /* a block that a request covers only partly */
    _Alignas(64) struct usb_ends ends;
    struct xhci *host;
    enum { USB_IDLE, USB_SENDING, USB_RECEIVING, USB_STATUS } phase;
    enum usb_outcome outcome; /* result of the last command, once idle */
    uint32_t tag, left;
    uint8_t unit;       /* number of the drive's logical unit */
    bool came_whole;    /* the data of the last command, as the controller saw them */
    bool wrong_residue; /* the residue that the drive reports is meaningless */
    bool no_modes;      /* it did not survive MODE SENSE */
    uint32_t idle_polls;
    bool stalled, flushing;
    bool stopped, dead; /* the next submit looks for it again; not even that helps */
    bool read_only;
    uint64_t n_sectors;
    uint32_t block_sectors; /* sectors in one of the drive's blocks */
    uint32_t moved, part;   /* sectors of the first request: done, and of the command at work */
    bool few; /* a large command has failed, or had no answer; the next ones are small */
    bool at_edge, has_read_edge; /* the command moves a block of which the request has a part */
    uint32_t place;              /* where it was last found */
    uint32_t identity,
        serial;    /* maker and product, and the serial number or its substitute; from the first
                    * start */
    bool has_twin; /* nothing tells it from another one here but its place */
    struct block_request *row[USB_STORAGE_DEPTH];
    uint32_t n_row;
    const char *why;
    char name[USB_STORAGE_NAME_BYTES];
};

/* Find the first drive at the places from `first` to `last` of a controller that was started,
 * and fill out. If it cannot be used, out->error_message says why. s->place has it.
 * ERR_NO_DEVICE: there is none. */
enum err usb_storage_open(struct usb_storage *s, struct xhci *host, uint32_t first, uint32_t last,
                          struct block_device *out);

/* One that was let go of is looked for there, and taken again. ERR_NO_DEVICE: it is not there;
 * otherwise s->why. */
enum err usb_storage_take(struct usb_storage *s, uint32_t first, uint32_t last);

/* Release it after it was pulled. */
void usb_storage_look(struct usb_storage *s);

/* Two drives that could be confused after they are pulled and put back: each is only accepted at
 * its old port. */
void usb_storage_compare(struct usb_storage *a, struct usb_storage *b);

/* True if nothing is in flight, after at most this long: read-ahead data have arrived by then, even
 * if not taken. */
bool usb_storage_rests(struct usb_storage *s, uint32_t ms);

/* The controller does not obey: stop it, and end what is under way with ERR_IO. */
enum err usb_storage_stop(struct usb_storage *s);

#endif
