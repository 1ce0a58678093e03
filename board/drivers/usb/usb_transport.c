/* Sections are those of the USB Mass Storage Class, Bulk-Only Transport 1.0; SCSI follows SPC-4. */
#include <string.h>

#include "board/drivers/usb/usb_storage_private.h"
#include "board/drivers/usb/xhci_registers.h"

enum {
    COMMAND_BYTES = 31, /* 5.1 */
    STATUS_BYTES = 13,  /* 5.2 */
    LIMIT_MS = 5000,
    FIRST_MS = 20000, /* as Linux waits for INQUIRY (scsi_scan.c) */
};

static void ask_status(struct usb_storage *s)
{
    struct xhci *x = s->host;

    s->phase = USB_STATUS;
    memset(s->status, 0, sizeof s->status);
    xhci_put(x, &s->device.in, s->status, STATUS_BYTES, s->ends.in_packet, true);
    xhci_ring(x, &s->device, &s->device.in, s->device.in_id);
}

static void put_u32(uint8_t *p, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

/* Send a command (5.1). The status is requested only after the data have been moved: a drive may
 * rely on this order, and QEMU's drive loses a status requested while data are in flight. */
void usb_storage_send(struct usb_storage *s, const uint8_t *cdb, uint8_t cdb_bytes, void *data,
                      uint32_t bytes, bool write)
{
    struct xhci *x = s->host;
    uint8_t *c = s->command;

    memset(c, 0, sizeof s->command);
    /* "USBC", the tag that the status has to repeat, and how many bytes of data follow. */
    put_u32(c, 0x43425355);
    put_u32(c + 4, ++s->tag);
    put_u32(c + 8, bytes);
    c[12] = write ? 0 : 0x80;
    c[13] = s->unit;
    c[14] = cdb_bytes;
    memcpy(c + 15, cdb, cdb_bytes);
    s->stalled = false;
    s->came_whole = bytes == 0;
    xhci_put(x, &s->device.out, c, COMMAND_BYTES, s->ends.out_packet, false);
    if (bytes != 0 && write)
        xhci_put(x, &s->device.out, data, bytes, s->ends.out_packet, true);
    xhci_ring(x, &s->device, &s->device.out, s->device.out_id);
    if (bytes == 0) {
        ask_status(s);
        return;
    }
    s->phase = write ? USB_SENDING : USB_RECEIVING;
    if (write)
        return;
    xhci_put(x, &s->device.in, data, bytes, s->ends.in_packet, true);
    xhci_ring(x, &s->device, &s->device.in, s->device.in_id);
}

static void end(struct usb_storage *s, enum usb_outcome outcome)
{
    s->phase = USB_IDLE;
    s->outcome = outcome;
}

/* After a stall, clear the halt on both sides; then the status follows (6.7.2 and figure 2). The
 * status may also stall once, even if the data have stalled before. */
static void clear_stall(struct usb_storage *s, bool in)
{
    struct xhci_device *d = &s->device;
    uint16_t endpoint = in ? (uint16_t)(0x80 | s->ends.in) : s->ends.out;
    bool again = s->stalled;

    s->stalled = s->phase == USB_STATUS;
    /* The status stalls again: give up the drive. */
    if (again ||
        xhci_unhalt(s->host, d, in ? &d->in : &d->out, in ? d->in_id : d->out_id) != ERR_OK ||
        xhci_control(s->host, d, 0x02, 1, 0, endpoint, 0) != ERR_OK)
        end(s, USB_BROKEN);
    else
        ask_status(s);
}

/* True if the phase waits for this endpoint. */
static bool is_due(const struct usb_storage *s, uint32_t id)
{
    if (s->phase == USB_SENDING)
        return id == s->device.out_id;
    return s->phase != USB_IDLE && id == s->device.in_id;
}

void usb_storage_take_event(struct usb_storage *s, const struct xhci_trb *event)
{
    uint32_t id = event->control >> 16 & 31, code = event->status >> 24;
    uint32_t left = event->status & 0xffffff;

    if ((event->control >> 10 & 63) != EVENT_TRANSFER || event->control >> 24 != s->device.slot ||
        s->phase == USB_IDLE)
        return;
    if (code == CODE_STALL && is_due(s, id)) {
        clear_stall(s, id == s->device.in_id);
    } else if (!is_due(s, id) || (code != CODE_SUCCESS && code != CODE_SHORT)) {
        end(s, USB_BROKEN);
    } else if (s->phase != USB_STATUS) {
        s->came_whole = code == CODE_SUCCESS && left == 0;
        ask_status(s); /* the status also says how many bytes of data are missing */
    } else if (left != 0) {
        end(s, USB_BROKEN);
    } else {
        dma_sync(&s->host->setup.window, s->status, sizeof s->status);
        end(s, usb_read_status(s->status, s->tag, &s->left));
        /* This drive's residues are wrong, so only the number of bytes on the bus counts. */
        if (s->wrong_residue)
            s->left = 0;
    }
}

enum usb_outcome usb_storage_run_into(struct usb_storage *s, const uint8_t *cdb, uint8_t cdb_bytes,
                                      void *data, uint32_t bytes, uint32_t ms)
{
    struct xhci_deadline d = xhci_deadline_in(s->host, ms),
                         next = xhci_deadline_in(s->host, LIMIT_MS);
    struct xhci_trb event;

    xhci_alive(s->host);
    usb_storage_send(s, cdb, cdb_bytes, data, bytes, false);
    while (s->phase != USB_IDLE) {
        if (xhci_next(s->host, &s->device, &event))
            usb_storage_take_event(s, &event);
        else if (xhci_is_over(s->host, &d) || !xhci_is_connected(s->host, &s->device))
            end(s, USB_BROKEN);
        else if (xhci_is_over(s->host, &next)) {
            xhci_alive(s->host);
            next = xhci_deadline_in(s->host, LIMIT_MS);
        }
    }
    dma_sync(&s->host->setup.window, data, bytes);
    return s->outcome;
}

enum usb_outcome usb_storage_run(struct usb_storage *s, const uint8_t *cdb, uint8_t cdb_bytes,
                                 uint32_t bytes)
{
    memset(s->answer, 0, sizeof s->answer);
    return usb_storage_run_into(s, cdb, cdb_bytes, s->answer, bytes, LIMIT_MS);
}

enum usb_outcome usb_storage_run_first(struct usb_storage *s, const uint8_t *cdb, uint8_t cdb_bytes,
                                       uint32_t bytes)
{
    memset(s->answer, 0, sizeof s->answer);
    return usb_storage_run_into(s, cdb, cdb_bytes, s->answer, bytes,
                                s->n_sectors == 0 ? FIRST_MS : LIMIT_MS);
}

/* Ask why the last command failed, which also clears the reason (SPC-4, 6.37). */
unsigned usb_storage_sense(struct usb_storage *s, unsigned *code)
{
    static const uint8_t request[6] = { 0x03, 0, 0, 0, 18, 0 };

    *code = 0;
    if (usb_storage_run(s, request, sizeof request, 18) != USB_GOOD)
        return 0;
    return usb_read_sense(s->answer, code);
}
