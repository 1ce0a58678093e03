/* Hubs at the controller's own ports and behind each other: a device behind a hub has a place
 * number beyond those ports. Sections are those of the Universal Serial Bus Specification 2.0,
 * chapter 11, and of 3.2 ("USB 3") for hubs of that kind. */
#include "board/drivers/usb/xhci_private.h"
#include "board/drivers/usb/xhci_registers.h"
#include "board/min_max.h"

enum {
    GET_STATUS = 0,
    CLEAR_FEATURE = 1,
    SET_FEATURE = 3,
    GET_DESCRIPTOR = 6,
    CLEAR_TT_BUFFER = 8,
    SET_HUB_DEPTH = 12
};
enum { FROM_DEVICE = 0x80, TO_HUB = 0x20, FROM_HUB = 0xa0, TO_PORT = 0x23, FROM_PORT = 0xa3 };
enum {
    FEATURE_RESET = 4,
    FEATURE_POWER = 8,
    FEATURE_CONNECT_CHANGE = 16,
    FEATURE_OVER_CURRENT_CHANGE = 19,
    FEATURE_RESET_CHANGE = 20
};
enum { /* 11.24.2.7, USB 3 10.16.2.6; changes are in the upper half */
       HUB_PORT_CONNECTED = 1 << 0,
       HUB_PORT_ENABLED = 1 << 1,
       HUB_PORT_OVER_CURRENT = 1 << 3,
       HUB_PORT_POWER = 1 << 8,
       HUB_PORT_POWER_3 = 1 << 9, /* of USB 3 */
       HUB_PORT_LOW = 1 << 9,
       HUB_PORT_HIGH = 1 << 10,
       HUB_PORT_CONNECT_CHANGE = 1 << 16,
       HUB_PORT_OVER_CURRENT_CHANGE = 1 << 19,
       HUB_PORT_RESET_CHANGE = 1 << 20,
};
enum { CLASS_HUB = 9 };
enum { RESET_MS = 1000, CONNECT_MS = 100, MOST_TRIES = 3 };
enum { TT_BULK = 2 << 11, TT_IN = 1 << 15, TT_SINGLE = 1 }; /* 11.24.2.3 */

uint32_t xhci_n_places(const struct xhci *x)
{
    return x->n_ports + XHCI_HUBS * XHCI_HUB_PORTS;
}

struct xhci_hub *xhci_hub_of(struct xhci *x, uint32_t place, uint32_t *port)
{
    uint32_t number = place - x->n_ports - 1;

    if (place <= x->n_ports)
        return NULL;
    *port = number % XHCI_HUB_PORTS + 1;
    return &x->hubs[number / XHCI_HUB_PORTS];
}

static bool is_super(const struct xhci_hub *h)
{
    return h->device.speed >= XHCI_SPEED_SUPER;
}

/* ---- ports ---- */

/* Release a hub that did not answer, or whose port was disabled. A hub that worked before is tried
 * once more, as if it were new. */
static void let_go(struct xhci *x, struct xhci_hub *h)
{
    (void)xhci_detach(x, &h->device);
    if (h->works)
        x->news[h->device.place] = XHCI_NEW;
}

/* Send a request to a hub that is set up; the request before it may have released the hub. A hub
 * that gives no answer in time is released, because each request would take a second. */
static enum err ask(struct xhci *x, struct xhci_hub *h, uint8_t type, uint8_t request,
                    uint16_t value, uint32_t index, uint16_t bytes)
{
    enum err e;

    if (h->device.slot == 0)
        return ERR_NO_DEVICE;
    e = xhci_control(x, &h->device, type, request, value, (uint16_t)index, bytes);
    if (e == ERR_TIMEOUT)
        let_go(x, h);
    return e;
}

static enum err set_feature(struct xhci *x, struct xhci_hub *h, uint8_t request, uint16_t feature,
                            uint32_t port)
{
    return ask(x, h, TO_PORT, request, feature, port, 0);
}

/* A lost answer says nothing about the devices behind the hub, so ask again. A translator reports a
 * lost answer as a stall (11.17). (Linux repeats the request after a stall or a time-out, and
 * resets a hub after ten failures: get_port_status, hub_irq.) */
static enum err get_status(struct xhci *x, struct xhci_hub *h, uint32_t port, uint32_t *status)
{
    const uint8_t *d = h->device.data;
    unsigned tries = 0;
    enum err e;

    do
        e = ask(x, h, FROM_PORT, GET_STATUS, 0, port, 4);
    while ((e == ERR_IO || e == ERR_UNSUPPORTED) && ++tries < MOST_TRIES);
    if (e == ERR_IO || e == ERR_UNSUPPORTED)
        let_go(x, h);
    h->works = h->works || e == ERR_OK;
    *status = d[0] | (uint32_t)d[1] << 8 | (uint32_t)d[2] << 16 | (uint32_t)d[3] << 24;
    return e;
}

static uint32_t speed_of(const struct xhci_hub *h, uint32_t status)
{
    if (is_super(h))
        return h->device.speed;
    if (status & HUB_PORT_LOW)
        return XHCI_SPEED_LOW;
    return status & HUB_PORT_HIGH ? XHCI_SPEED_HIGH : XHCI_SPEED_FULL;
}

static bool has_ended(uint32_t status) /* a USB 3 port trains its link after the reset */
{
    return (status & HUB_PORT_RESET_CHANGE) && (status & HUB_PORT_ENABLED);
}

enum err xhci_hub_reset(struct xhci *x, struct xhci_hub *h, uint32_t port, uint32_t *speed)
{
    struct xhci_deadline d = xhci_deadline_in(x, RESET_MS);
    uint32_t status;
    enum err e = get_status(x, h, port, &status);

    if (e == ERR_OK && !(status & HUB_PORT_CONNECTED))
        return ERR_NO_DEVICE;
    if (e == ERR_OK)
        e = set_feature(x, h, CLEAR_FEATURE, FEATURE_CONNECT_CHANGE, port);
    if (e == ERR_OK)
        e = set_feature(x, h, SET_FEATURE, FEATURE_RESET, port);
    while (e == ERR_OK && (e = get_status(x, h, port, &status)) == ERR_OK && !has_ended(status))
        if (xhci_is_over(x, &d))
            return status & HUB_PORT_RESET_CHANGE ? ERR_IO : ERR_TIMEOUT;
    if (e == ERR_OK)
        e = set_feature(x, h, CLEAR_FEATURE, FEATURE_RESET_CHANGE, port);
    if (e != ERR_OK)
        return e;
    xhci_recover(x);
    *speed = speed_of(h, status);
    return ERR_OK;
}

/* Switch a port on again: a hub switches it off after too much current, and only the host switches
 * it on (11.11.1, 11.12.5). A hub that guards all ports together switches all of them off, and
 * reports no change of a single port (11.24.2.6, 11.24.2.7.2.4). */
static void power_again(struct xhci *x, struct xhci_hub *h, uint32_t port, uint32_t status)
{
    uint32_t power = is_super(h) ? HUB_PORT_POWER_3 : HUB_PORT_POWER;

    if (status & HUB_PORT_OVER_CURRENT_CHANGE)
        (void)set_feature(x, h, CLEAR_FEATURE, FEATURE_OVER_CURRENT_CHANGE, port);
    else if (status & (power | HUB_PORT_OVER_CURRENT))
        return;
    (void)set_feature(x, h, SET_FEATURE, FEATURE_POWER, port);
}

bool xhci_hub_has(struct xhci *x, struct xhci_hub *h, uint32_t port, bool enabled, bool *fresh)
{
    uint32_t want = HUB_PORT_CONNECTED | (enabled ? (uint32_t)HUB_PORT_ENABLED : 0), status;

    /* A pulled hub cannot be asked. */
    if (h->device.slot == 0 || !xhci_port_works(x, h->device.port) || port > h->facts.n_ports ||
        get_status(x, h, port, &status) != ERR_OK)
        return false;
    power_again(x, h, port, status);
    *fresh = status & HUB_PORT_CONNECT_CHANGE;
    return h->device.slot != 0 && (status & want) == want;
}

/* ---- translators, 11.14: a high-speed hub talks to slower devices for the controller ---- */

struct xhci_hub *xhci_translator(const struct xhci_device *d, uint32_t *port)
{
    if (d->speed != XHCI_SPEED_FULL && d->speed != XHCI_SPEED_LOW)
        return NULL;
    while (d->hub != NULL && d->hub->device.speed != XHCI_SPEED_HIGH)
        d = &d->hub->device;
    *port = d->hub_port;
    return d->hub;
}

/* Clear the translator's record of a failed transfer, which it would use for the next one
 * (11.17.5). An interrupt's record expires by itself. The record of a control transfer stays: the
 * endpoint's next setup packet replaces it. (Linux clears it too, except after a stall.) */
enum err xhci_clear_translator(struct xhci *x, struct xhci_device *d, uint32_t id)
{
    struct xhci_hub *h;
    uint32_t port, address;
    enum err e;

    h = xhci_translator(d, &port);
    if (h == NULL || id == XHCI_CONTROL || d->out_id == 0)
        return ERR_OK;
    dma_sync(&x->setup.window, d->output, sizeof d->output);
    address = d->output[3] & 0x7f; /* the address that the controller gave it (xHCI 6.2.2) */
    e = ask(x, h, TO_PORT, CLEAR_TT_BUFFER,
            (uint16_t)(id >> 1 | address << 4 | TT_BULK | (id & 1 ? (uint32_t)TT_IN : 0)),
            TT_SINGLE, 0);
    return e == ERR_UNSUPPORTED ? ERR_OK : e;
}

/* ---- the hub itself ---- */

static enum err describe(struct xhci *x, struct xhci_hub *h)
{
    uint8_t type = is_super(h) ? USB_HUB_3 : USB_HUB;
    enum err e = xhci_control(x, &h->device, FROM_HUB, GET_DESCRIPTOR, (uint16_t)(type << 8), 0,
                              USB_HUB_BYTES);

    if (e != ERR_OK)
        return e;
    if (!usb_read_hub(h->device.data, type, &h->facts))
        return ERR_NO_DEVICE;
    /* A route has four bits for each hub, so a hub can have fifteen ports. */
    if (h->facts.n_ports > XHCI_HUB_PORTS)
        x->left_out = "a hub has more than fifteen ports: devices at later ports are ignored";
    h->facts.n_ports = min_u32(h->facts.n_ports, XHCI_HUB_PORTS);
    return ERR_OK;
}

/* Ports without their own switch accept the request too (11.11). */
static enum err power_ports(struct xhci *x, struct xhci_hub *h)
{
    enum err e = ERR_OK;

    for (uint32_t port = 1; port <= h->facts.n_ports && e == ERR_OK; port++)
        e = set_feature(x, h, SET_FEATURE, FEATURE_POWER, port);
    xhci_pause(x, h->facts.power_ms + CONNECT_MS);
    return e;
}

static enum err set_up(struct xhci *x, struct xhci_hub *h)
{
    uint8_t configuration;
    enum err e = xhci_control(x, &h->device, FROM_DEVICE, GET_DESCRIPTOR, 1 << 8, 0, 18);

    if (e == ERR_OK && h->device.data[4] != CLASS_HUB)
        return ERR_NO_DEVICE;
    if (e == ERR_OK)
        e = xhci_control(x, &h->device, FROM_DEVICE, GET_DESCRIPTOR, 2 << 8, 0, 9);
    configuration = h->device.data[5];
    if (e == ERR_OK)
        e = xhci_set_configuration(x, &h->device, configuration);
    /* A hub reads the port from the route, for which it must know its own tier (USB 3,
     * 10.16.2.9). */
    if (e == ERR_OK && is_super(h))
        e = xhci_control(x, &h->device, TO_HUB, SET_HUB_DEPTH, (uint16_t)h->device.tier, 0, 0);
    if (e == ERR_OK)
        e = describe(x, h);
    if (e == ERR_OK)
        /* The controller must know the hub before a device behind it gets an address. */
        e = xhci_tell_hub(x, h);
    return e == ERR_OK ? power_ports(x, h) : e;
}

/* A hub that comes back gets its own entry, so that its ports and the drives there keep their
 * places. Another device gets the first entry that was never used, so that at the start a hub has a
 * lower number than hubs that are found behind it. If no such entry is left, the device gets the
 * entry of a closed hub. */
static struct xhci_hub *unused_hub(struct xhci *x, uint32_t place)
{
    struct xhci_hub *found = NULL;

    for (unsigned i = 0; i < XHCI_HUBS; i++) {
        struct xhci_hub *h = &x->hubs[i];

        if (h->device.slot != 0)
            continue;
        if (h->device.place == place)
            return h;
        if (found == NULL || (h->device.place == 0 && found->device.place != 0))
            found = h;
    }
    return found;
}

static enum err try_hub(struct xhci *x, struct xhci_hub *h, uint32_t place)
{
    enum err e = xhci_attach(x, &h->device, place);

    if (e != ERR_OK)
        return e;
    e = set_up(x, h);
    if (e != ERR_OK)
        (void)xhci_detach(x, &h->device);
    return e;
}

void xhci_clear_change(struct xhci *x, uint32_t place)
{
    uint32_t port;
    struct xhci_hub *h = xhci_hub_of(x, place, &port);
    unsigned reg = xhci_port_register(x, place);

    if (h != NULL)
        (void)set_feature(x, h, CLEAR_FEATURE, FEATURE_CONNECT_CHANGE, port);
    else
        xhci_write(x, reg, (xhci_read(x, reg) & PORT_KEPT) | PORT_CONNECT_CHANGE);
}

/* Open the device at a place that is near enough to the controller for a hub. */
static enum err open_at(struct xhci *x, uint32_t place)
{
    struct xhci_hub *h = unused_hub(x, place);
    uint32_t its_place;
    unsigned tries = 0;
    enum err e;

    if (h == NULL) {
        x->left_out = "a USB device that may be a hub is ignored: the limit is eight hubs";
        return ERR_NO_SPACE;
    }
    its_place = h->device.place;
    h->facts.n_ports = 0;
    h->works = false;
    do
        e = try_hub(x, h, place);
    while (xhci_asks_again(x, place, e, &tries));
    if (e != ERR_OK)
        h->device.place = its_place; /* the entry still belongs to its previous hub */
    return e;
}

enum err xhci_hub_open(struct xhci *x, uint32_t place)
{
    uint8_t *news = &x->news[place];
    const struct xhci_hub *parent;
    uint32_t port;
    enum err e = ERR_NO_DEVICE;

    if (!(*news & XHCI_NEW_TO_HUBS))
        return *news & XHCI_NO_HUB ? ERR_NO_DEVICE : ERR_BUSY;
    *news &= (uint8_t)~XHCI_NEW_TO_HUBS;
    parent = xhci_hub_of(x, place, &port);
    if (parent == NULL || parent->device.tier + 1 < XHCI_TIERS)
        e = open_at(x, place);
    if (e == ERR_NO_DEVICE)
        *news |= XHCI_NO_HUB;
    return e;
}

bool xhci_hub_returns(struct xhci *x, uint32_t place)
{
    const struct xhci_hub *h;
    uint32_t port;
    bool fresh;

    for (unsigned i = 0; i < XHCI_TIERS; i++) {
        h = xhci_hub_of(x, place, &port);
        if (h == NULL || h->device.slot != 0)
            return false;
        place = h->device.place;
        if (xhci_is_unused(x, place, &fresh) && (x->news[place] & XHCI_NEW_TO_HUBS))
            return true;
    }
    return false;
}

void xhci_hub_look(struct xhci *x)
{
    bool any = true;

    while (any) { /* the hubs behind it go with it */
        any = false;
        for (unsigned i = 0; i < XHCI_HUBS; i++) {
            struct xhci_device *d = &x->hubs[i].device;

            if (d->slot == 0 || xhci_is_connected(x, d))
                continue;
            let_go(x, &x->hubs[i]);
            any = true;
        }
    }
}
