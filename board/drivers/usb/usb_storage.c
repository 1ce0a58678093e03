/* Sections are those of the USB Mass Storage Class, Bulk-Only Transport 1.0; SCSI follows SPC-4
 * and SBC-3. */
#include <stddef.h>
#include <string.h>

#include "board/drivers/soc/device_name.h"
#include "board/drivers/usb/usb_storage_private.h"
#include "board/min_max.h"

enum { HEALTH_PERIOD = 1 << 12 }; /* empty polls between two looks at the port */

/* ---- requests ---- */

static void put_big(uint8_t *p, uint64_t v, unsigned bytes)
{
    while (bytes-- > 0) {
        p[bytes] = (uint8_t)v;
        v >>= 8;
    }
}

static void move_blocks(struct usb_storage *s, uint64_t block, uint32_t n, void *data, bool write)
{
    uint8_t cdb[16] = { 0 };

    if (block + n <= 1ull << 32) { /* SBC-3, 5.11, 5.30 */
        cdb[0] = write ? 0x2a : 0x28;
        put_big(cdb + 2, block, 4);
        put_big(cdb + 7, n, 2);
    } else { /* 5.13, 5.32 */
        cdb[0] = write ? 0x8a : 0x88;
        put_big(cdb + 2, block, 8);
        put_big(cdb + 10, n, 4);
    }
    usb_storage_send(s, cdb, cdb[0] >= 0x80 ? 16 : 10, data, n * s->block_sectors * SECTOR_BYTES,
                     write);
}

/* The current command's data: in the first request's buffer, or in the block at its edge. */
static uint8_t *part_data(const struct usb_storage *s)
{
    return (uint8_t *)s->row[0]->buffer + (size_t)s->moved * SECTOR_BYTES;
}

static uint8_t *part_edge(struct usb_storage *s)
{
    return s->edge + (s->row[0]->sector + s->moved) % s->block_sectors * SECTOR_BYTES;
}

/* The largest command. Each command needs three turns of the bus, which at SuperSpeed take as long
 * as 256 KiB of data. */
static uint32_t most_sectors(const struct usb_storage *s)
{
    if (s->n_long_failed > 1)
        return USB_STORAGE_LEAST;
    return s->n_long_failed == 1 || s->device.speed < XHCI_SPEED_SUPER ? USB_STORAGE_FEW
                                                                       : USB_STORAGE_SECTORS;
}

/* Perhaps the drive has failed because the command was long: the file layer's next tries use
 * shorter ones. */
static void note_failure(struct usb_storage *s)
{
    if (s->part > USB_STORAGE_LEAST && s->n_long_failed < 2)
        s->n_long_failed++;
}

/* Send whole blocks of the request as one command, or a block that it covers only in part. */
static void next_part(struct usb_storage *s)
{
    const struct block_request *r = s->row[0];
    uint64_t at = r->sector + s->moved;
    uint32_t left = r->n_sectors - s->moved, skip = (uint32_t)(at % s->block_sectors);

    /* A drive with large blocks moves whole blocks: at an edge the block is read, and for a write
     * then changed and written back. */
    s->at_edge = skip != 0 || left < s->block_sectors;
    s->has_read_edge = false;
    if (s->at_edge) {
        s->part = min_u32(s->block_sectors - skip, left);
        move_blocks(s, at / s->block_sectors, 1, s->edge, false);
    } else {
        s->part = min_u32(left - left % s->block_sectors, most_sectors(s));
        move_blocks(s, at / s->block_sectors, s->part / s->block_sectors, part_data(s), r->write);
    }
}

/* Continue after a successful command. Returns true if the request's next command was sent. */
static bool go_to_next_part(struct usb_storage *s)
{
    const struct block_request *r = s->row[0];
    size_t bytes = (size_t)s->part * SECTOR_BYTES;

    /* The block at the edge has arrived: copy its part to the request's buffer or, for a write,
     * change the block and write it back. */
    if (s->at_edge && !s->has_read_edge) {
        dma_sync(&s->host->setup.window, s->edge, sizeof s->edge);
        s->has_read_edge = true;
        if (r->write) {
            memcpy(part_edge(s), part_data(s), bytes);
            move_blocks(s, (r->sector + s->moved) / s->block_sectors, 1, s->edge, true);
            return true;
        }
        memcpy(part_data(s), part_edge(s), bytes);
    }
    s->moved += s->part;
    if (s->moved == r->n_sectors)
        return false;
    next_part(s);
    return true;
}

static void begin(struct usb_storage *s)
{
    s->flushing = false;
    s->moved = 0;
    if (s->n_row != 0)
        next_part(s);
}

static void finish(struct usb_storage *s, enum err status)
{
    struct block_request *r = s->row[0];

    s->n_row--;
    memmove(s->row, s->row + 1, s->n_row * sizeof s->row[0]);
    r->status = status;
    r->done = true;
}

static enum err stop_all(struct usb_storage *s, enum err status)
{
    usb_storage_let_go(s);
    while (s->n_row != 0)
        finish(s, status);
    return err_unless(!s->host->dead, ERR_IO);
}

/* True if the reader's card was taken out or changed since the drive's start. */
static bool has_lost_medium(unsigned key, unsigned code)
{
    unsigned both = key << 8 | code >> 8;

    return both == (KEY_NOT_READY << 8 | NO_MEDIUM) ||
           both == (KEY_ATTENTION << 8 | MEDIUM_CHANGED);
}

/* Continue after the end of the first request's command. */
static enum err advance(struct usb_storage *s)
{
    static const uint8_t flush[10] = { 0x35 }; /* SBC-3, 5.22: the whole cache */
    struct block_request *r = s->row[0];
    /* The drive and the controller must both have seen all data. (Linux takes the larger of both
     * differences: usb_stor_Bulk_transport.) */
    bool is_whole = s->left == 0 && s->came_whole;
    enum err status = err_unless(s->outcome == USB_GOOD && (is_whole || s->flushing), ERR_IO);
    unsigned key = 0, code = 0;

    if (s->outcome == USB_FAILED)
        key = usb_storage_sense(s, &code);
    /* Open files name sectors of the medium that was there: the next start compares its size. For a
     * removable drive Linux does no more I/O either (06/28: scsi_io_completion; 02/3A: sd.c). */
    if (has_lost_medium(key, code))
        return stop_all(s, ERR_IO);
    /* The disk has stopped by itself, as some do after minutes without a read (Linux sets
     * allow_restart for all USB disks). The next start also starts its motor. */
    if (usb_storage_spins_up(key, code))
        return stop_all(s, ERR_IO);
    if (key == KEY_RECOVERED && (is_whole || s->flushing))
        status = ERR_OK; /* the command has succeeded */
    if (key == KEY_ILLEGAL && s->flushing)
        status = ERR_OK; /* the drive has no cache to flush */
    if (status != ERR_OK && xhci_is_connected(s->host, &s->device))
        note_failure(s);
    if (s->outcome == USB_BROKEN)
        return stop_all(s, ERR_IO);
    if (status == ERR_OK && !s->flushing && go_to_next_part(s))
        return ERR_OK;
    /* A write is done when the drive's cache has been written to its medium. */
    if (status == ERR_OK && r->write && !s->flushing) {
        s->flushing = true;
        usb_storage_send(s, flush, sizeof flush, NULL, 0, false);
        return ERR_OK;
    }
    if (!r->write)
        dma_sync(&s->host->setup.window, r->buffer, (size_t)r->n_sectors * SECTOR_BYTES);
    finish(s, status);
    begin(s);
    return ERR_OK;
}

/* True if another device's driver has stopped or restarted the controller. */
static bool is_lost(const struct usb_storage *s)
{
    return !s->stopped && s->device.slot == 0;
}

static enum err usb_storage_submit(struct block_device *dev, struct block_request *r)
{
    struct usb_storage *s = dev->driver;
    enum err e;

    dev->writable = !s->read_only; /* a drive may come back with its lock on */
    e = block_request_check(dev, r);
    if (s->host->dead)
        return ERR_IO;
    if (e != ERR_OK)
        return e;
    if (is_lost(s))
        (void)stop_all(s, ERR_IO);
    if (!block_request_in_reach(dev, r) ||
        !dma_reaches(&s->host->setup.window, r->buffer, (size_t)r->n_sectors * SECTOR_BYTES))
        return ERR_RANGE;
    if (s->stopped && usb_storage_take_again(s, 1, xhci_n_places(s->host)) != ERR_OK)
        return ERR_IO; /* it may come back later */
    if (s->n_row == USB_STORAGE_DEPTH)
        return ERR_BUSY;
    r->done = false;
    r->status = ERR_BUSY;
    s->row[s->n_row++] = r;
    if (s->n_row == 1)
        begin(s);
    return ERR_OK;
}

static enum err go_on(struct usb_storage *s)
{
    struct xhci_trb event;

    if (s->host->dead)
        return ERR_IO;
    if (s->n_row == 0)
        return ERR_OK;
    if (is_lost(s))
        return stop_all(s, ERR_IO);
    if (xhci_next(s->host, &s->device, &event)) {
        s->idle_polls = 0;
        usb_storage_take_event(s, &event);
        return s->phase == USB_IDLE ? advance(s) : ERR_OK;
    }
    /* An unplugged drive does not answer any more, so look at its port from time to time. */
    if (++s->idle_polls < HEALTH_PERIOD)
        return ERR_OK;
    s->idle_polls = 0;
    return xhci_is_connected(s->host, &s->device) ? ERR_OK : stop_all(s, ERR_IO);
}

static enum err usb_storage_poll(struct block_device *dev)
{
    return go_on(dev->driver);
}

bool usb_storage_rests(struct usb_storage *s, uint32_t ms)
{
    struct xhci_deadline d = xhci_deadline_in(s->host, ms);

    while (s->n_row != 0 && !xhci_is_over(s->host, &d))
        (void)go_on(s);
    return s->n_row == 0 || s->host->dead;
}

static enum err usb_storage_reset(struct block_device *dev)
{
    struct usb_storage *s = dev->driver;

    note_failure(s);
    return err_unless(stop_all(s, ERR_TIMEOUT) == ERR_OK, ERR_TIMEOUT);
}

static void fill(struct usb_storage *s, struct block_device *out)
{
    out->n_sectors = s->n_sectors;
    out->block_bytes = s->block_sectors * SECTOR_BYTES;
    out->max_sectors = out->wanted_sectors = USB_STORAGE_SECTORS;
    out->queue_depth = USB_STORAGE_DEPTH;
    out->writable = !s->read_only;
    out->dma_end = s->host->setup.window.end;
    if (out->dma_end == UINT64_MAX)
        out->dma_end = 0;
    out->submit = usb_storage_submit;
    out->poll = usb_storage_poll;
    out->reset = usb_storage_reset;
}

void usb_storage_look(struct usb_storage *s)
{
    if (is_lost(s) || (s->device.slot != 0 && !xhci_is_connected(s->host, &s->device)))
        (void)stop_all(s, ERR_IO);
}

void usb_storage_ask_card(struct usb_storage *s, const struct usb_storage *released, bool in_use)
{
    bool is_own = s->unit == released->unit;
    enum err e = usb_storage_ask_slot(s, is_own ? s : released);
    bool gives_way = e == (is_own ? ERR_REMOVED : ERR_OK);

    /* A card with open files gives way to one in another slot only if it is gone. */
    if (gives_way && !is_own && in_use) {
        e = usb_storage_ask_slot(s, s);
        gives_way = e == ERR_REMOVED || e == ERR_NO_DEVICE;
    }
    if (gives_way)
        s->host->news[s->place] |= XHCI_NEW_TO_DRIVES;
    if (gives_way || e == ERR_IO)
        (void)stop_all(s, ERR_IO);
}

bool usb_storage_has_card(struct usb_storage *s)
{
    enum err e = usb_storage_ask_slot(s, s);

    /* A card whose first blocks cannot be read any more is there. */
    if (e == ERR_OK || e == ERR_BUSY)
        return true;
    s->host->news[s->place] |= XHCI_NEW_TO_DRIVES;
    (void)stop_all(s, ERR_IO);
    return false;
}

enum err usb_storage_open(struct usb_storage *s, struct xhci *host, uint32_t first, uint32_t last,
                          struct block_device *out)
{
    enum err e;

    memset(s, 0, offsetof(struct usb_storage, name));
    s->host = host;
    e = usb_storage_take(s, first, last);
    if (e != ERR_OK && s->why == NULL)
        return ERR_NO_DEVICE;
    if (s->place == 0) /* the controller did not start */
        device_name_set(s->name, "USB drive at ", host->setup.mmio);
    *out = (struct block_device){
        .name = s->name, .kind = BLOCK_USB, .driver = s, .error_message = s->why
    };
    if (e == ERR_OK)
        fill(s, out);
    return ERR_OK;
}
