/* Takes a USB drive: recognizes it at a port, addresses it, and takes it again after it was
 * released. Sections are those of the USB Mass Storage Class, Bulk-Only Transport 1.0. */
#include <string.h>

#include "board/drivers/soc/device_name.h"
#include "board/drivers/usb/usb_storage_private.h"

enum { ENGLISH = 0x0409 }; /* language of texts: US English, which all devices have */

/* ---- one drive at a place ---- */

struct identity {
    uint32_t product, serial; /* 0: it has none */
};

/* Read a text. Some devices fail if more bytes are requested than the text has (Linux:
 * USB_QUIRK_STRING_FETCH_255). `careful`: ask for the text's length first. */
static enum err read_text(struct usb_storage *s, uint8_t number, bool careful)
{
    uint16_t which = (uint16_t)(3 << 8 | number);
    uint8_t bytes = 255;
    enum err e;

    if (careful) {
        e = xhci_control(s->host, &s->device, 0x80, 6, which, ENGLISH, 2);
        bytes = s->device.data[0];
        if (e != ERR_OK || bytes <= 2)
            return e;
    }
    return xhci_control(s->host, &s->device, 0x80, 6, which, ENGLISH, bytes);
}

/* Read a drive's identity (USB 2.0, 9.6.1, 9.6.7). 4.1.1 of the transport requires a serial number,
 * but cheap drives have none. */
static enum err identify(struct usb_storage *s, struct identity *out)
{
    const uint8_t *d = s->device.data;
    enum err e = xhci_control(s->host, &s->device, 0x80, 6, 1 << 8, 0, 18);
    uint8_t number = d[16];
    bool careful = s->host->careful;

    *out = (struct identity){
        d[8] | (uint32_t)d[9] << 8 | (uint32_t)d[10] << 16 | (uint32_t)d[11] << 24, 0
    };
    if (e != ERR_OK || number == 0)
        return e;
    xhci_give_time(s->host);
    e = read_text(s, number, careful);
    for (uint32_t i = 0; e == ERR_OK && i < d[0]; i++)
        out->serial = (out->serial ^ d[i]) * 0x01000193; /* FNV-1a, except for its start value */
    return e == ERR_UNSUPPORTED ? ERR_OK : e;
}

/* True if the drive may be where the other device is. A drive without a serial number, or with a
 * twin, is bound to its socket, because a copy of it may be anywhere. The number of its place does
 * not matter: it changes if hubs are found in another order. */
static bool may_be_at(const struct usb_storage *s, uint32_t port, uint32_t route)
{
    return (s->serial != 0 && !s->has_twin) || (s->port == port && s->route == route);
}

/* Drives with equal numbers are told apart by their media: see usb_storage_learn. */
static bool is_mine(const struct usb_storage *s, const struct identity *i)
{
    const struct xhci_device *d = &s->device;

    return s->identity == 0 ||
           (s->identity == i->product && s->serial == i->serial && may_be_at(s, d->port, d->route));
}

/* Address and configure a drive at this place. ERR_NO_DEVICE: there is no drive, or another. */
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
        (!usb_find_storage(s->device.data, bytes, &s->ends) || !is_mine(s, &identity)))
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

void usb_storage_name(const struct usb_storage *s, char *name)
{
    const struct xhci_device *d = &s->device;
    char *at;

    device_name_set(name, "USB drive at ", s->host->setup.mmio);
    at = name + strlen(name);
    memcpy(at, ", port ", 7);
    at = put_number(at + 7, d->port);
    for (uint32_t tier = 0; tier < d->tier; tier++) {
        *at++ = '.';
        at = put_number(at, d->route >> 4 * tier & 15);
    }
    *at = '\0';
}

/* Note where the drive is. A drive that moves gets another name. */
static void note_place(struct usb_storage *s)
{
    s->place = s->device.place;
    s->port = s->device.port;
    s->route = s->device.route;
    s->host->news[s->place] &= (uint8_t)~XHCI_NEW_TO_DRIVES;
    usb_storage_name(s, s->name);
}

/* Start the drive that is addressed. ERR_REMOVED: it is another drive than before. */
static enum err start_found(struct usb_storage *s)
{
    enum err e;

    /* A drive that is refused changes neither the place nor the name of the one that was here
     * before. */
    if (s->place == 0)
        note_place(s);
    s->phase = USB_IDLE;
    s->stopped = false;
    e = usb_storage_learn(s);
    /* MODE SENSE has silenced the drive: attach it again, but do not repeat MODE SENSE. */
    if (e == ERR_IO && s->no_modes && xhci_detach(s->host, &s->device) == ERR_OK &&
        (e = try_place(s, s->device.place)) == ERR_OK) {
        s->phase = USB_IDLE;
        e = usb_storage_learn(s);
    }
    if (e == ERR_OK)
        note_place(s);
    if (e != ERR_OK && s->why == NULL)
        s->why = "the USB drive does not answer as it should: plug it in again";
    return e == ERR_NO_DEVICE ? ERR_IO : e; /* the drive was there */
}

/* Start a drive at the places from `first` to `last`. */
static enum err start(struct usb_storage *s, uint32_t first, uint32_t last)
{
    struct xhci *x = s->host;
    enum err e = ERR_OK, other = ERR_NO_DEVICE;
    bool is_new = s->place == 0, fresh;

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
    for (uint32_t place = first; place <= last; place++) {
        if (place == s->tried || !xhci_is_unused(x, place, &fresh))
            continue;
        e = try_place(s, place);
        if (e == ERR_OK && ((e = start_found(s)) != ERR_REMOVED || is_new))
            return e;
        if (e == ERR_NO_DEVICE)
            (void)xhci_hub_open(x, place); /* a drive may be behind this hub */
        /* The drive itself may be at a later place. */
        if (e == ERR_REMOVED) {
            usb_storage_let_go(s);
            other = e;
        }
    }
    return other == ERR_REMOVED ? other : e;
}

/* ---- taking it, and releasing it ---- */

void usb_storage_let_go(struct usb_storage *s)
{
    if (xhci_detach(s->host, &s->device) != ERR_OK)
        (void)xhci_stop(s->host);
    s->stopped = true;
    s->phase = USB_IDLE;
}

enum err usb_storage_take(struct usb_storage *s, uint32_t first, uint32_t last)
{
    enum err e = s->host->dead ? ERR_IO : start(s, first, last);

    if (e == ERR_OK)
        s->is_here = true;
    else
        usb_storage_let_go(s);
    return e;
}

enum err usb_storage_take_again(struct usb_storage *s, uint32_t first, uint32_t last)
{
    struct xhci *x = s->host;
    uint32_t place = s->place;
    bool was_here = s->is_here, fresh, has_device;
    enum err e = usb_storage_take(s, place, place), there = e;
    const char *why = s->why;

    has_device = xhci_is_unused(x, place, &fresh);
    if (has_device && x->running && !x->deaf)
        s->is_here = e != ERR_NO_DEVICE && e != ERR_REMOVED;
    /* If a device there may be the drive, nothing else is tried. A device that does not answer takes
     * seconds, and several requests may wait for it in one period of the watchdog, so it is tried
     * once. If a hub came to this place, the drive may be behind it. */
    if (e == ERR_REMOVED || (e != ERR_OK && s->why == NULL)) {
        s->tried = has_device ? place : 0;
        e = usb_storage_take(s, first, last);
        s->tried = 0;
        if (e == ERR_NO_DEVICE && there == ERR_REMOVED) {
            s->why = why;
            e = there;
        }
    }
    /* No look has tried the device there as a new one, because it counted as this drive. */
    if (was_here && has_device && !(s->is_here && s->place == place))
        x->news[place] |= XHCI_NEW_TO_DRIVES | XHCI_NEW_TO_HUBS;
    return e;
}

bool usb_storage_is_equal(const struct usb_storage *s, const struct usb_storage *other)
{
    return s->identity == other->identity && s->serial == other->serial && s->unit == other->unit &&
           s->n_sectors == other->n_sectors && s->block_sectors == other->block_sectors &&
           (s->print == other->print || s->print == 0 || other->print == 0);
}

bool usb_storage_may_be(const struct usb_storage *s, const struct usb_storage *other)
{
    return s->identity == other->identity && s->serial == other->serial &&
           may_be_at(s, other->port, other->route);
}

bool usb_storage_is(const struct usb_storage *s, const struct usb_storage *new)
{
    return usb_storage_is_equal(s, new) && usb_storage_may_be(s, new) && s->print == new->print;
}
