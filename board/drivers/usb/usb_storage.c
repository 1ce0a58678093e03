/* Sections are those of the USB Mass Storage Class, Bulk-Only Transport 1.0; SCSI by SPC-4 and
 * SBC-3. */
#include <string.h>

#include "board/drivers/soc/device_name.h"
#include "board/drivers/usb/usb_storage_private.h"
#include "board/min_max.h"

enum {
    HEALTH_PERIOD = 1 << 12, /* empty polls between two looks at the port */
    ENGLISH = 0x0409,        /* language of texts: US English, which all devices have */
    KEY_ILLEGAL = 5,
};

/* ---- the start ---- */

struct identity {
    uint32_t product, serial; /* 0: it has none */
};

/* Read a drive's identity (USB 2.0, 9.6.1, 9.6.7). A hash replaces a missing serial number: 4.1.1
 * of the transport requires one, but cheap drives have none. */
static enum err identify(struct usb_storage *s, struct identity *out)
{
    const uint8_t *d = s->device.data;
    enum err e = xhci_control(s->host, &s->device, 0x80, 6, 1 << 8, 0, 18);
    uint8_t number = d[16];

    *out = (struct identity){
        d[8] | (uint32_t)d[9] << 8 | (uint32_t)d[10] << 16 | (uint32_t)d[11] << 24, 0
    };
    if (e != ERR_OK || number == 0)
        return e;
    e = xhci_control(s->host, &s->device, 0x80, 6, (uint16_t)(3 << 8 | number), ENGLISH, 255);
    for (uint32_t i = 0; e == ERR_OK && i < d[0]; i++)
        out->serial = (out->serial ^ d[i]) * 0x01000193; /* FNV-1a, except for its start value */
    return e == ERR_UNSUPPORTED ? ERR_OK : e;
}

static bool is_mine(const struct usb_storage *s, const struct identity *i, uint32_t place)
{
    return s->identity == 0 || (s->identity == i->product && s->serial == i->serial &&
                                (!s->has_twin || s->place == place));
}

/* Address and configure a drive at this place. ERR_NO_DEVICE: it is something else. */
static enum err try_once(struct usb_storage *s, uint32_t place)
{
    struct xhci *x = s->host;
    struct identity identity;
    enum err e = xhci_attach(x, &s->device, place);
    uint32_t bytes;

    if (e != ERR_OK)
        return e;
    /* A drive is configured only after its identity and its endpoints show that it is ours. */
    e = identify(s, &identity);
    if (e == ERR_OK)
        e = xhci_get_configuration(x, &s->device, &bytes);
    if (e == ERR_OK &&
        (!usb_find_storage(s->device.data, bytes, &s->ends) || !is_mine(s, &identity, place)))
        e = ERR_NO_DEVICE;
    if (e == ERR_OK)
        e = xhci_configure(x, &s->device, &s->ends);
    if (e == ERR_OK)
        e = xhci_set_configuration(x, &s->device, s->ends.configuration);
    if (e != ERR_OK) {
        (void)xhci_detach(x, &s->device);
        return e;
    }
    s->identity = identity.product;
    s->serial = identity.serial;
    s->place = place;
    return ERR_OK;
}

static enum err try_place(struct usb_storage *s, uint32_t place)
{
    unsigned tries = 0;
    enum err e;

    do
        e = try_once(s, place);
    while (xhci_asks_again(s->host, place, e, &tries));
    return e;
}

static char *put_number(char *at, uint32_t number) /* below 1000 */
{
    if (number >= 100)
        *at++ = (char)('0' + number / 100);
    if (number >= 10)
        *at++ = (char)('0' + number / 10 % 10);
    *at++ = (char)('0' + number % 10);
    return at;
}

/* Name the drive "USB drive at 0xfd500000, port 2", or "port 2.1.4" behind two hubs. A drive that
 * moves gets another name. */
static void set_name(struct usb_storage *s)
{
    const struct xhci_device *d = &s->device;
    char *at;

    device_name_set(s->name, "USB drive at ", s->host->setup.mmio);
    at = s->name + strlen(s->name);
    memcpy(at, ", port ", 7);
    at = put_number(at + 7, d->port);
    for (uint32_t tier = 0; tier < d->tier; tier++) {
        *at++ = '.';
        at = put_number(at, d->route >> 4 * tier & 15);
    }
    *at = '\0';
}

/* Start a drive at the places from `first` to `last`. */
static enum err start(struct usb_storage *s, uint32_t first, uint32_t last)
{
    struct xhci *x = s->host;
    uint32_t before = s->place; /* 0: this is the first start */
    enum err e = ERR_OK;
    bool fresh;

    s->phase = USB_IDLE;
    s->why = NULL;
    if (!x->running)
        e = xhci_start(x);
    if (e != ERR_OK) {
        s->why = x->why;
        return e;
    }
    e = ERR_NO_DEVICE;
    xhci_hub_look(x);
    for (uint32_t place = first; place <= last && e != ERR_OK; place++) {
        if (!xhci_is_unused(x, place, &fresh))
            continue;
        e = try_place(s, place);
        if (e == ERR_NO_DEVICE && fresh)
            (void)xhci_hub_open(x, place); /* a drive may be behind this hub */
    }
    if (e != ERR_OK)
        return ERR_NO_DEVICE;
    s->stopped = false;
    e = usb_storage_learn(s);
    /* MODE SENSE has silenced the drive: attach it again, but do not repeat MODE SENSE. */
    if (e == ERR_IO && s->no_modes && xhci_detach(x, &s->device) == ERR_OK &&
        (e = try_place(s, s->place)) == ERR_OK) {
        s->phase = USB_IDLE;
        e = usb_storage_learn(s);
    }
    /* A drive that is refused changes neither the place nor the name of the one that was here before. */
    if (e != ERR_OK && before != 0)
        s->place = before;
    else
        set_name(s);
    if (e != ERR_OK && s->why == NULL)
        s->why = "the USB drive does not answer as it should: plug it in again";
    return e;
}

/* Release the drive, so that nothing arrives in a buffer that is returned. If the drive's endpoints
 * do not stop, stop the whole controller. */
static void let_go(struct usb_storage *s)
{
    s->dead = xhci_detach(s->host, &s->device) != ERR_OK && xhci_stop(s->host) != ERR_OK;
    s->stopped = !s->dead;
    s->phase = USB_IDLE;
}

enum err usb_storage_take(struct usb_storage *s, uint32_t first, uint32_t last)
{
    enum err e = s->dead ? ERR_IO : start(s, first, last);

    if (e != ERR_OK && !s->dead)
        let_go(s);
    return e;
}

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
 * as 256 KiB. */
static uint32_t most_sectors(const struct usb_storage *s)
{
    return s->few || s->device.speed < XHCI_SPEED_SUPER ? USB_STORAGE_FEW : USB_STORAGE_SECTORS;
}

/* Send whole blocks of the request as one command, or a block that it covers only in part. */
static void next_part(struct usb_storage *s)
{
    const struct block_request *r = s->row[0];
    uint64_t at = r->sector + s->moved;
    uint32_t left = r->n_sectors - s->moved, skip = (uint32_t)(at % s->block_sectors);

    /* A drive with large blocks moves whole blocks: at an edge the block is read, and for a write
     * changed. */
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

    /* The block at the edge has arrived: give its part to the reader, or change it and write it
     * back. */
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
    let_go(s);
    while (s->n_row != 0)
        finish(s, status);
    return err_unless(!s->dead, ERR_IO);
}

/* Continue after the end of the first request's command. */
static enum err advance(struct usb_storage *s)
{
    static const uint8_t flush[10] = { 0x35 }; /* SBC-3, 5.22: the whole cache */
    struct block_request *r = s->row[0];
    enum err status = err_unless(s->outcome == USB_GOOD && (s->left == 0 || s->flushing), ERR_IO);
    unsigned code;

    if (s->outcome == USB_FAILED && usb_storage_sense(s, &code) == KEY_ILLEGAL && s->flushing)
        status = ERR_OK; /* it knows no cache */
    /* Some bridges fail on long commands: the file layer's next try uses short ones. */
    if (status != ERR_OK && s->part > USB_STORAGE_FEW && xhci_is_connected(s->host, &s->device))
        s->few = true;
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
    enum err e = block_request_check(dev, r);

    if (s->dead)
        return ERR_IO;
    if (e != ERR_OK)
        return e;
    if (is_lost(s))
        (void)stop_all(s, ERR_IO);
    if (!block_request_in_reach(dev, r) ||
        !dma_reaches(&s->host->setup.window, r->buffer, (size_t)r->n_sectors * SECTOR_BYTES))
        return ERR_RANGE;
    /* The drive was released: look for it at its own place first, because a drive with the same numbers may be at a lower one. */
    if (s->stopped && usb_storage_take(s, s->place, s->place) != ERR_OK &&
        usb_storage_take(s, 1, xhci_n_places(s->host)) != ERR_OK)
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

    if (s->dead)
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
    /* A pulled drive does not answer any more, so look at its port from time to time. */
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
    return s->n_row == 0;
}

static enum err usb_storage_reset(struct block_device *dev)
{
    struct usb_storage *s = dev->driver;

    s->few = true; /* perhaps it does not answer because the command is large */
    return err_unless(stop_all(s, ERR_TIMEOUT) == ERR_OK, ERR_TIMEOUT);
}

enum err usb_storage_stop(struct usb_storage *s)
{
    if (xhci_stop(s->host) != ERR_OK)
        s->dead = true;
    return s->dead ? ERR_IO : stop_all(s, ERR_IO);
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

void usb_storage_compare(struct usb_storage *a, struct usb_storage *b)
{
    if (a->identity == b->identity && a->serial == b->serial)
        a->has_twin = b->has_twin = true;
}

void usb_storage_look(struct usb_storage *s)
{
    if (is_lost(s) || (s->device.slot != 0 && !xhci_is_connected(s->host, &s->device)))
        (void)stop_all(s, ERR_IO);
}

enum err usb_storage_open(struct usb_storage *s, struct xhci *host, uint32_t first, uint32_t last,
                          struct block_device *out)
{
    enum err e;

    memset(s, 0, sizeof *s);
    s->host = host;
    device_name_set(s->name, "USB drive at ", host->setup.mmio);
    e = usb_storage_take(s, first, last);
    if (e == ERR_NO_DEVICE)
        return e;
    *out = (struct block_device){
        .name = s->name, .kind = BLOCK_USB, .driver = s, .error_message = s->why
    };
    if (e == ERR_OK)
        fill(s, out);
    return ERR_OK;
}
