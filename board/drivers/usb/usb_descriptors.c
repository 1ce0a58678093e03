#include "board/drivers/usb/usb_descriptors.h"

enum { TYPE_CONFIGURATION = 2, TYPE_INTERFACE = 4, TYPE_ENDPOINT = 5, TYPE_COMPANION = 0x30 };
enum { BULK = 2, INTERRUPT = 3, MOST_PACKET = 1024, MOST_BURST = 15 };

/* An interface's description, and how its endpoints move data. */
struct kind {
    uint8_t class, subclass, protocol, transfer;
};
static const struct kind storage = { 8, 6, 0x50, BULK }, keyboard = { 3, 1, 1, INTERRUPT };

static void take_endpoint(const struct kind *kind, struct usb_ends *ends, const uint8_t *d)
{
    uint16_t packet = (uint16_t)((d[4] | d[5] << 8) & 0x7ff);
    uint8_t number = d[2] & 15;

    if ((d[3] & 3) != kind->transfer || number == 0 || packet == 0 || packet > MOST_PACKET)
        return;
    if ((d[2] & 0x80) && ends->in == 0) {
        ends->in = number;
        ends->in_packet = packet;
        ends->interval = 0;
        if (kind->transfer == INTERRUPT)
            ends->interval = d[6] != 0 ? d[6] : 1;
    } else if (!(d[2] & 0x80) && ends->out == 0 && kind->transfer == BULK) {
        ends->out = number;
        ends->out_packet = packet;
    }
}

static bool has_all(const struct kind *kind, const struct usb_ends *ends)
{
    return ends->in != 0 && (ends->out != 0 || kind->transfer != BULK);
}

static void take_companion(struct usb_ends *ends, uint8_t address, uint8_t burst)
{
    if (burst > MOST_BURST)
        return;
    if ((address & 0x80) && (address & 15) == ends->in)
        ends->in_burst = burst;
    if (!(address & 0x80) && (address & 15) == ends->out)
        ends->out_burst = burst;
}

static bool find(const struct kind *kind, const uint8_t *data, uint32_t bytes,
                 struct usb_ends *ends)
{
    uint8_t endpoint = 0;
    bool ours = false;

    *ends = (struct usb_ends){ 0 };
    if (bytes < 9 || data[0] < 9 || data[1] != TYPE_CONFIGURATION)
        return false;
    ends->configuration = data[5];
    if ((uint32_t)(data[2] | data[3] << 8) < bytes)
        bytes = (uint32_t)(data[2] | data[3] << 8);
    for (uint32_t at = 0; at + 2 <= bytes && data[at] >= 2 && data[at] <= bytes - at;
         at += data[at]) {
        const uint8_t *d = data + at;

        if (d[1] == TYPE_INTERFACE && d[0] >= 9) {
            if (has_all(kind, ends))
                return true;
            ours = d[3] == 0 && d[5] == kind->class && d[6] == kind->subclass &&
                   d[7] == kind->protocol;
            ends->interface = d[2];
            ends->in = ends->out = ends->in_burst = ends->out_burst = 0;
        } else if (ours && d[1] == TYPE_ENDPOINT && d[0] >= 7) {
            endpoint = d[2];
            take_endpoint(kind, ends, d);
        } else if (ours && d[1] == TYPE_COMPANION && d[0] >= 3) {
            take_companion(ends, endpoint, d[2]);
        }
    }
    return has_all(kind, ends);
}

bool usb_find_storage(const uint8_t *data, uint32_t bytes, struct usb_ends *ends)
{
    return find(&storage, data, bytes, ends);
}

bool usb_find_keyboard(const uint8_t *data, uint32_t bytes, struct usb_ends *ends)
{
    return find(&keyboard, data, bytes, ends);
}

bool usb_read_hub(const uint8_t data[USB_HUB_BYTES], uint8_t type, struct usb_hub_facts *out)
{
    *out = (struct usb_hub_facts){ data[2], data[3] >> 5 & 3, 2u * data[5] };
    return data[0] >= USB_HUB_BYTES && data[1] == type && out->n_ports != 0;
}

static uint32_t little(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t big(const uint8_t *p)
{
    return p[3] | (uint32_t)p[2] << 8 | (uint32_t)p[1] << 16 | (uint32_t)p[0] << 24;
}

enum usb_outcome usb_read_status(const uint8_t data[13], uint32_t tag, uint32_t *left)
{
    *left = little(data + 8);
    if (little(data) != 0x53425355 || little(data + 4) != tag || data[12] > 1)
        return USB_BROKEN;
    return data[12] == 0 ? USB_GOOD : USB_FAILED;
}

bool usb_is_disk(const uint8_t data[36])
{
    return data[0] == 0; /* qualifier and type of device: a connected disk */
}

unsigned usb_read_sense(const uint8_t data[18], unsigned *code)
{
    unsigned form = data[0] & 0x7f, key = 0;
    bool is_late = form == 0x71 || form == 0x73; /* the sense is about an earlier command */

    *code = 0;
    if (form == 0x70 || form == 0x71) {
        *code = (unsigned)(data[12] << 8 | data[13]);
        key = data[2] & 15;
    } else if (form == 0x72 || form == 0x73) { /* as descriptors, which we did not request */
        *code = (unsigned)(data[2] << 8 | data[3]);
        key = data[1] & 15;
    }
    /* The earlier command has succeeded, but this one was not executed. */
    return is_late && key == USB_KEY_RECOVERED ? 0 : key;
}

uint64_t usb_read_capacity_10(const uint8_t data[8], uint32_t *block_bytes)
{
    *block_bytes = big(data + 4);
    return (uint64_t)big(data) + 1;
}

/* The capacity in blocks; 0 if it is impossibly large. */
uint64_t usb_read_capacity_16(const uint8_t data[32], uint32_t *block_bytes)
{
    uint64_t last = (uint64_t)big(data) << 32 | big(data + 4);

    *block_bytes = big(data + 8);
    return last < UINT64_MAX / 4096 ? last + 1 : 0;
}
