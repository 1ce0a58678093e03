/* Reads descriptors of a USB device and its SCSI unit. The device sends these bytes, so each is
 * checked before it is used. */
#ifndef INGOT_BOARD_DRIVERS_USB_USB_DESCRIPTORS_H
#define INGOT_BOARD_DRIVERS_USB_USB_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

/* An interface and its endpoints: two bulk endpoints of a drive, or a keyboard's interrupt
 * endpoint. */
struct usb_ends {
    uint8_t configuration, interface;
    uint8_t in, out; /* numbers of the endpoints, 1 to 15; out 0: there is no such endpoint */
    uint16_t in_packet, out_packet;
    uint8_t in_burst, out_burst; /* packets of a burst after the first, 0 to 15 */
    uint8_t interval;            /* interval of an interrupt endpoint, as the device reports it; 0:
                                    bulk */
};

/* Find mass storage that speaks bulk-only, or a keyboard that knows the boot protocol (HID 1.11,
 * 4.2), in a configuration descriptor and what follows it (USB 2.0, 9.6; USB 3.2, 9.6.7). */
bool usb_find_storage(const uint8_t *data, uint32_t bytes, struct usb_ends *ends);
bool usb_find_keyboard(const uint8_t *data, uint32_t bytes, struct usb_ends *ends);

/* A hub's description: USB 2.0, 11.23.2.1; USB 3.2, 10.15.2.1. */
enum { USB_HUB_BYTES = 7, USB_HUB = 0x29, USB_HUB_3 = 0x2a };
struct usb_hub_facts {
    uint32_t n_ports; /* 1 to 255 */
    uint32_t think;   /* think time of its transaction translator, in steps of 8 bit times */
    uint32_t power_ms;
};
/* Read a hub's descriptor. Returns false if the descriptor has another type, or if the hub has no
 * ports. */
bool usb_read_hub(const uint8_t data[USB_HUB_BYTES], uint8_t type, struct usb_hub_facts *out);

enum usb_outcome { USB_GOOD, USB_FAILED, USB_BROKEN };

/* Read a command status wrapper (Bulk-Only Transport 1.0, 5.2). *left: bytes that were not
 * moved. */
enum usb_outcome usb_read_status(const uint8_t data[13], uint32_t tag, uint32_t *left);

/* True if the answer to INQUIRY describes a disk that is there (SPC-4, 6.4.2). */
bool usb_is_disk(const uint8_t data[36]);

enum { USB_KEY_RECOVERED = 1 }; /* the command has succeeded */

/* Read the sense key from REQUEST SENSE (SPC-4, 4.5.2, 4.5.3); 0 if the bytes are not sense data, or
 * say that an earlier command has recovered data. *code: the additional sense code and, in its
 * lower byte, the qualifier. */
unsigned usb_read_sense(const uint8_t data[18], unsigned *code);

/* Read the answer to READ CAPACITY (10) or (16) (SBC-3, 5.15, 5.16): return the number of blocks,
 * and store the bytes of one. */
uint64_t usb_read_capacity_10(const uint8_t data[8], uint32_t *block_bytes);
uint64_t usb_read_capacity_16(const uint8_t data[32], uint32_t *block_bytes);

#endif
