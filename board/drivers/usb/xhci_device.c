/* Devices at the controller's ports and behind hubs: addresses, endpoints, control transfers.
 * Sections are those of the eXtensible Host Controller Interface specification 1.2. */
#include <string.h>

#include "board/drivers/usb/xhci_private.h"
#include "board/drivers/usb/xhci_registers.h"
#include "board/min_max.h"

enum {
    RESET_MS = 1000,
    RECOVERY_MS = 10,
    LONG_RECOVERY_MS = 150,
    ADDRESS_MS = 10,    /* 9.2.6.3 gives a device 2 ms; U-Boot waits 10 ms too */
    CONFIGURED_MS = 10, /* U-Boot waits this long, for sticks of SanDisk and Kingston */
    TRY_MS = 250,
    INIT_MS = 2200, /* Linux waits 2 s, and 200 ms more (hub.c, config.c) */
    MOST_TRIES = 3,
    HEAD_BYTES = 9, /* length of the configuration descriptor itself */
    TYPE_CONTROL = 4,
    TYPE_BULK_OUT = 2,
    TYPE_BULK_IN = 6,
    TYPE_INTERRUPT_IN = 7,
    ERRORS_3 = 3 << 1,
};

/* ---- ports and contexts ---- */

unsigned xhci_port_register(const struct xhci *x, uint32_t port)
{
    return x->operational + OP_PORTS + 16 * (port - 1);
}

static bool is_ready(uint32_t status)
{
    return status != UINT32_MAX && (status & PORT_ENABLED) && (status >> 10 & 15) != 0;
}

/* True for a device that was not used since it came to a USB 3 port: such a port enables itself
 * (4.3.1), so it needs no reset. */
static bool is_new_and_super(uint32_t status)
{
    return is_ready(status) && (status & PORT_CONNECT_CHANGE) &&
           (status >> 10 & 15) >= XHCI_SPEED_SUPER;
}

/* Reset the port, so that the device starts again. A VL805 reports the end of the reset (PRC) while
 * a USB 3 port still trains its link (speed 0, not enabled), which takes up to a second. */
static enum err reset_port(struct xhci *x, uint32_t port, uint32_t *speed)
{
    unsigned reg = xhci_port_register(x, port);
    uint32_t status = xhci_read(x, reg);
    struct xhci_deadline d = xhci_deadline_in(x, RESET_MS);
    bool resets = !is_new_and_super(status), over = false;

    if (status == UINT32_MAX || !(status & PORT_CONNECTED))
        return ERR_NO_DEVICE;
    xhci_write(x, reg, (status & PORT_KEPT) | PORT_CHANGES);
    if (resets)
        xhci_write(x, reg, (status & PORT_KEPT) | PORT_RESET);
    for (;;) {
        status = xhci_read(x, reg);
        if (is_ready(status) && (!resets || status & PORT_RESET_CHANGE))
            break;
        if (over)
            return status & PORT_RESET_CHANGE ? ERR_IO : ERR_TIMEOUT;
        over = xhci_is_over(x, &d);
    }
    xhci_write(x, reg, (status & PORT_KEPT) | PORT_CHANGES);
    xhci_recover(x);
    /* PORTSC, bits 13:10 (5.4.8). */
    *speed = status >> 10 & 15;
    return ERR_OK;
}

static uint32_t *context(struct xhci *x, uint32_t id) /* contexts follow the input control context
                                                         (6.2.5) */
{
    return x->input + x->context_words * (id + 1);
}

static void set_slot_context(struct xhci *x, const struct xhci_device *d, uint32_t add,
                             uint32_t last)
{
    uint32_t port;
    const struct xhci_hub *translator = xhci_translator(d, &port);

    memset(x->input, 0, sizeof x->input);
    /* Bits of the contexts to take; bit 0 is the slot context (6.2.5.1). */
    x->input[1] = add;
    context(x, 0)[0] = d->route | d->speed << 20 | last << 27;
    context(x, 0)[1] = d->port << 16;
    if (translator != NULL) /* 6.2.2 */
        context(x, 0)[2] = translator->device.slot | port << 8;
}

static void set_endpoint(struct xhci *x, uint32_t id, uint32_t type, const struct xhci_ring *ring,
                         uint32_t packet, uint32_t burst)
{
    uint32_t *c = context(x, id);
    uint64_t at = xhci_address(x, ring->trbs) | TRB_CYCLE;

    /* Three tries on the bus, then an error event (6.2.3). */
    c[1] = ERRORS_3 | type << 3 | burst << 8 | packet << 16;
    c[2] = (uint32_t)at;
    c[3] = (uint32_t)(at >> 32);
    c[4] = type == TYPE_CONTROL ? 8 : 0x4000; /* average length of a TRB, approximately */
}

/* A VL805 loses data in bursts to a drive of SuperSpeed behind a hub (raspberrypi/linux pull
 * request 5173). */
static uint32_t out_burst(const struct xhci_device *d, const struct usb_ends *ends)
{
    return d->hub == NULL ? ends->out_burst : 0;
}

static enum err obey_input(struct xhci *x, const struct xhci_device *d, uint32_t type)
{
    dma_sync(&x->setup.window, x->input, sizeof x->input);
    return xhci_obey_slot(x, d, type, xhci_address(x, x->input), 0);
}

static uint32_t first_packet(const struct xhci_device *d) /* USB 2.0, 5.5.3; USB 3.2, 8.12.2 */
{
    if (d->speed == XHCI_SPEED_FULL || d->speed == XHCI_SPEED_LOW)
        return 8;
    return d->speed == XHCI_SPEED_HIGH ? 64 : 512;
}

static enum err give_address(struct xhci *x, struct xhci_device *d)
{
    xhci_set_ring(&d->control, d->trbs[0]);
    memset(d->output, 0, sizeof d->output);
    x->contexts[d->slot] = xhci_address(x, d->output);
    /* The contexts of the slot and the control endpoint (4.3.3). */
    set_slot_context(x, d, 3, 1);
    set_endpoint(x, XHCI_CONTROL, TYPE_CONTROL, &d->control, first_packet(d), 0);
    /* All that the controller reads must be in memory before the command. */
    dma_sync(&x->setup.window, d->trbs[0], sizeof d->trbs[0]);
    dma_sync(&x->setup.window, d->output, sizeof d->output);
    dma_sync(&x->setup.window, x->contexts, sizeof x->contexts);
    return obey_input(x, d, TRB_ADDRESS);
}

/* Learn the packet size of a full-speed device from its descriptor's eighth byte, which is in the
 * first packet. */
static enum err learn_packet(struct xhci *x, struct xhci_device *d)
{
    enum err e = ERR_OK;

    if (d->speed == XHCI_SPEED_FULL)
        e = xhci_control(x, d, 0x80, 6, 1 << 8, 0, 8);
    if (e != ERR_OK || d->speed != XHCI_SPEED_FULL || d->data[7] == 8)
        return e;
    /* Other sizes do not exist (USB 2.0, table 9-8). */
    if (d->data[7] != 16 && d->data[7] != 32 && d->data[7] != 64)
        return ERR_IO;
    memset(x->input, 0, sizeof x->input);
    /* For the control endpoint, only the packet size changes (4.6.7). */
    x->input[1] = 2;
    set_endpoint(x, XHCI_CONTROL, TYPE_CONTROL, &d->control, d->data[7], 0);
    return obey_input(x, d, TRB_EVALUATE);
}

enum err xhci_tell_hub(struct xhci *x, struct xhci_hub *h)
{
    set_slot_context(x, &h->device, 1, 1);
    /* Bit 26 means that the device is a hub (6.2.2). */
    context(x, 0)[0] |= 1u << 26;
    context(x, 0)[1] |= h->facts.n_ports << 24;
    if (h->device.speed == XHCI_SPEED_HIGH)
        context(x, 0)[2] = h->facts.think << 16;
    return obey_input(x, &h->device, TRB_CONFIGURE);
}

static enum err reset_place(struct xhci *x, struct xhci_device *d, uint32_t place)
{
    const struct xhci_device *hub;

    d->place = place;
    d->port = place;
    d->route = d->tier = d->hub_port = 0;
    d->hub = xhci_hub_of(x, place, &d->hub_port);
    if (d->hub == NULL)
        return reset_port(x, place, &d->speed);
    hub = &d->hub->device;
    if (hub->slot == 0)
        return ERR_NO_DEVICE;
    d->port = hub->port;
    /* The route has four bits for each hub on the way (USB 3.2, 8.9). */
    d->route = hub->route | d->hub_port << 4 * hub->tier;
    d->tier = hub->tier + 1;
    return xhci_hub_reset(x, d->hub, d->hub_port, &d->speed);
}

bool xhci_asks_again(struct xhci *x, uint32_t place, enum err e, unsigned *tries)
{
    bool fresh;

    x->careful = false;
    if (e == ERR_OK || e == ERR_NO_DEVICE || e == ERR_NO_SPACE || x->deaf || ++*tries == MOST_TRIES)
        return false;
    /* Contacts may still bounce, so wait, and try as long as the device is there. The next tries
     * give it more time. */
    xhci_pause(x, TRY_MS);
    x->careful = xhci_is_unused(x, place, &fresh);
    return x->careful;
}

void xhci_recover(const struct xhci *x)
{
    xhci_pause(x, x->careful ? LONG_RECOVERY_MS : RECOVERY_MS);
}

void xhci_give_time(struct xhci *x)
{
    if (x->careful)
        xhci_pause(x, INIT_MS);
    x->careful = false;
}

enum err xhci_attach(struct xhci *x, struct xhci_device *d, uint32_t place)
{
    struct xhci_trb event = { 0 };
    enum err e;

    /* Return before the port is reset, so that the port still reports its change. */
    if (x->deaf)
        return ERR_TIMEOUT;
    x->tried_place = place;
    e = reset_place(x, d, place);
    if (e == ERR_OK)
        e = xhci_obey(x, TRB_ENABLE_SLOT, 0, 0, &event);
    if (e == ERR_IO && event.status >> 24 == CODE_NO_SLOTS) {
        x->left_out = "a USB device is ignored: the limit is twelve";
        return ERR_NO_SPACE;
    }
    if (e != ERR_OK)
        return e;
    if (event.control >> 24 == 0 || event.control >> 24 > XHCI_SLOTS)
        return ERR_IO;
    d->slot = event.control >> 24;
    d->in_id = d->out_id = d->n_kept = 0;
    x->devices[d->slot] = d;
    /* From the default state to the address state (USB 2.0, 9.1.1.4). */
    e = give_address(x, d);
    if (e == ERR_OK)
        xhci_pause(x, ADDRESS_MS);
    if (e == ERR_OK)
        e = learn_packet(x, d);
    if (e != ERR_OK)
        (void)xhci_detach(x, d);
    return e;
}

/* Endpoints must be stopped first (4.6.4). A halted or stopped endpoint refuses that command, but
 * is at rest anyway. */
enum err xhci_detach(struct xhci *x, struct xhci_device *d)
{
    enum err e = ERR_OK;

    if (d->slot == 0)
        return ERR_OK;
    if (d->in_id != 0)
        e = xhci_obey_slot(x, d, TRB_STOP_ENDPOINT, 0, d->in_id);
    if (d->out_id != 0 && e != ERR_TIMEOUT)
        e = xhci_obey_slot(x, d, TRB_STOP_ENDPOINT, 0, d->out_id);
    if (e != ERR_TIMEOUT)
        e = xhci_obey_slot(x, d, TRB_DISABLE_SLOT, 0, 0);
    x->devices[d->slot] = NULL;
    d->slot = d->n_kept = 0;
    dma_barrier(); /* nothing arrives in memory after this */
    return e;
}

/* A device that was pulled and put back counts as another device, even at a USB 3 port, which
 * enables itself. */
bool xhci_port_works(const struct xhci *x, uint32_t port)
{
    const uint32_t mask = PORT_CONNECTED | PORT_ENABLED | PORT_CONNECT_CHANGE;
    uint32_t controller = xhci_read(x, x->operational + OP_STATUS);

    /* All ones mean that the controller is not on its bus any more. */
    return controller != UINT32_MAX && !(controller & STATUS_FATAL) &&
           (xhci_read(x, xhci_port_register(x, port)) & mask) == (PORT_CONNECTED | PORT_ENABLED);
}

bool xhci_is_connected(struct xhci *x, const struct xhci_device *d)
{
    bool fresh;

    if (!x->running || d->slot == 0)
        return false;
    if (d->hub == NULL)
        return xhci_port_works(x, d->port);
    return xhci_hub_has(x, d->hub, d->hub_port, true, &fresh) && !fresh;
}

/* The controller switches a port off after too much current, and then reports nothing there. Switch
 * the port on again when the current is normal (5.4.8: PP, OCA); its device then counts as new. */
static bool has_something(struct xhci *x, uint32_t place, bool *fresh)
{
    unsigned reg = xhci_port_register(x, place);
    struct xhci_hub *hub;
    uint32_t status, port;

    hub = xhci_hub_of(x, place, &port);
    if (hub != NULL)
        return xhci_hub_has(x, hub, port, false, fresh);
    status = xhci_read(x, reg);
    if (x->running && !(status & (PORT_POWER | PORT_OVER_CURRENT)))
        xhci_write(x, reg, (status & PORT_KEPT) | PORT_POWER);
    *fresh = status & PORT_CONNECT_CHANGE;
    return status != UINT32_MAX && (status & PORT_CONNECTED);
}

bool xhci_is_unused(struct xhci *x, uint32_t place, bool *fresh)
{
    for (uint32_t slot = 1; slot <= XHCI_SLOTS; slot++)
        if (x->devices[slot] != NULL && x->devices[slot]->place == place)
            return false;
    /* The device that was noted as new is gone. */
    if (!has_something(x, place, fresh)) {
        x->news[place] = 0;
        return false;
    }
    if (*fresh)
        x->news[place] = XHCI_NEW;
    return true;
}

/* The interval is 125 us times a power of two (6.2.3.6). Fast devices report the exponent plus one,
 * others milliseconds. */
static uint32_t interval_of(const struct xhci_device *d, uint32_t interval)
{
    uint32_t exponent = 3;

    if (d->speed != XHCI_SPEED_FULL && d->speed != XHCI_SPEED_LOW)
        return min_u32(max_u32(interval, 1), 16) - 1;
    for (; interval > 1 && exponent < 10; interval >>= 1)
        exponent++;
    return exponent;
}

enum err xhci_configure(struct xhci *x, struct xhci_device *d, const struct usb_ends *ends)
{
    uint32_t in_id = 2u * ends->in + 1, out_id = 2u * ends->out;

    xhci_set_ring(&d->in, d->trbs[1]);
    xhci_set_ring(&d->out, d->trbs[2]);
    dma_sync(&x->setup.window, d->trbs[1], 2 * sizeof d->trbs[1]);
    /* Take the slot context, which counts the endpoints, and both endpoints (4.6.6). */
    set_slot_context(x, d, 1u | 1u << in_id | (out_id != 0 ? 1u << out_id : 0),
                     max_u32(in_id, out_id));
    if (ends->interval == 0) {
        set_endpoint(x, in_id, TYPE_BULK_IN, &d->in, ends->in_packet, ends->in_burst);
        set_endpoint(x, out_id, TYPE_BULK_OUT, &d->out, ends->out_packet, out_burst(d, ends));
    } else {
        set_endpoint(x, in_id, TYPE_INTERRUPT_IN, &d->in, ends->in_packet, 0);
        context(x, in_id)[0] = interval_of(d, ends->interval) << 16;
        context(x, in_id)[4] = ends->in_packet | (uint32_t)ends->in_packet << 16; /* 4.14.2 */
    }
    d->in_id = in_id;
    d->out_id = out_id;
    return obey_input(x, d, TRB_CONFIGURE);
}

/* ---- control transfers, 4.11.2.2 ---- */

static bool is_halting(uint32_t code) /* 4.10.2 */
{
    return code == CODE_STALL || code == CODE_TRANSACTION || code == CODE_BABBLE ||
           code == CODE_SPLIT;
}

enum err xhci_control(struct xhci *x, struct xhci_device *d, uint8_t type, uint8_t request,
                      uint16_t value, uint16_t index, uint16_t bytes)
{
    bool in = type & 0x80;
    struct xhci_trb event = { 0 };
    uint32_t code;
    enum err e;

    if (in)
        memset(d->data, 0, sizeof d->data);
    dma_sync(&x->setup.window, d->data, sizeof d->data);
    xhci_push(x, &d->control,
              type | (uint64_t)request << 8 | (uint64_t)value << 16 | (uint64_t)index << 32 |
                  (uint64_t)bytes << 48,
              8,
              TRB_SETUP << 10 | TRB_IMMEDIATE |
                  (bytes == 0 ? 0u
                   : in       ? 3u
                              : 2u)
                      << 16);
    if (bytes != 0)
        xhci_push(x, &d->control, xhci_address(x, d->data), bytes,
                  TRB_DATA << 10 | (in ? TRB_IN : 0));
    /* The status goes in the opposite direction of the data; without data it goes to the host
     * (USB 2.0, 8.5.3). */
    xhci_push(x, &d->control, 0, 0, TRB_STATUS << 10 | TRB_TELL | (in && bytes != 0 ? 0 : TRB_IN));
    xhci_ring(x, d, &d->control, XHCI_CONTROL);
    e = xhci_wait(x, d, 0, &event);
    /* Drop the transfer, so that a late answer arrives nowhere, and is not taken for the answer to
     * the next transfer. An endpoint that has halted meanwhile refuses to stop (4.6.9). */
    if (e == ERR_TIMEOUT && xhci_drop(x, d, &d->control, XHCI_CONTROL, TRB_STOP_ENDPOINT) == ERR_IO)
        (void)xhci_drop(x, d, &d->control, XHCI_CONTROL, TRB_RESET_ENDPOINT);
    dma_sync(&x->setup.window, d->data, sizeof d->data);
    code = event.status >> 24;
    if (e != ERR_OK || code == CODE_SUCCESS)
        return e;
    /* A halted endpoint takes nothing until it is reset (4.8.3). */
    if (is_halting(code))
        e = xhci_drop(x, d, &d->control, XHCI_CONTROL, TRB_RESET_ENDPOINT);
    if (e != ERR_OK)
        return e;
    return code == CODE_STALL ? ERR_UNSUPPORTED : ERR_IO;
}

/* Read first only the descriptor itself, which gives the full length, because some devices fail if
 * more is requested. */
enum err xhci_get_configuration(struct xhci *x, struct xhci_device *d, uint32_t *bytes)
{
    enum err e;

    xhci_give_time(x);
    e = xhci_control(x, d, 0x80, 6, 2 << 8, 0, HEAD_BYTES);
    *bytes = d->data[2] | (uint32_t)d->data[3] << 8;
    if (*bytes > sizeof d->data)
        x->left_out = "a USB device describes itself in more than 4096 bytes: the rest is ignored";
    *bytes = min_u32(*bytes, sizeof d->data);
    if (e == ERR_OK && *bytes < HEAD_BYTES)
        return ERR_NO_DEVICE;
    return e == ERR_OK ? xhci_control(x, d, 0x80, 6, 2 << 8, 0, (uint16_t)*bytes) : e;
}

enum err xhci_set_configuration(struct xhci *x, struct xhci_device *d, uint8_t configuration)
{
    enum err e = xhci_control(x, d, 0, 9, configuration, 0, 0);

    if (e == ERR_OK)
        xhci_pause(x, CONFIGURED_MS);
    return e;
}
