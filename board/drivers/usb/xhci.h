/* A USB host controller (eXtensible Host Controller Interface 1.2) with devices at its own ports
 * and behind hubs (also behind other hubs): a command ring, an event ring, and for each device the
 * rings of its control endpoint and of two more. Polled by core 0 only, because all devices share
 * the event ring: no other core may serve a drive behind it (runtime/storage/storage_devices.c). */
#ifndef INGOT_BOARD_DRIVERS_USB_XHCI_H
#define INGOT_BOARD_DRIVERS_USB_XHCI_H

#include <stdbool.h>
#include <stdint.h>

#include "board/drivers/dma/dma.h"
#include "board/drivers/usb/usb_descriptors.h"
#include "board/err.h"

enum {
    XHCI_PAGE = 4096,
    XHCI_RING = 64, /* TRBs, the last one links back */
    XHCI_GAP =
        16, /* space after a ring, in TRBs: a VL805 reads 64 bytes ahead, keeps them, and would take
               them for those of another ring */
    XHCI_EVENTS = 256, /* more events than all commands and transfers in flight can cause */
    XHCI_SLOTS = 12,
    XHCI_KEPT = 8, /* most events that are kept until their device asks for them */
    XHCI_SCRATCH =
        64, /* pages that a controller may need for itself: a VL805 needs 31, the maximum is 1023
               (5.3.4) */
    XHCI_CONTROL = 1, /* the control endpoint's number in contexts (4.5.1) */
    XHCI_HUBS = 8,
    XHCI_TIERS = 5,      /* most hubs between a device and the controller (USB 2.0, 4.1.1) */
    XHCI_HUB_PORTS = 15, /* most ports of a hub: a route has four bits for each hub (8.9 of USB
                            3.2) */
    XHCI_PLACES = 255 + XHCI_HUBS * XHCI_HUB_PORTS,
};

/* News of a place: a device that came, or a released hub that may work again, was not yet tried
 * there as a keyboard, a drive or a hub. */
enum {
    XHCI_NEW_TO_KEYBOARDS = 1,
    XHCI_NEW_TO_DRIVES = 2,
    XHCI_NEW_TO_HUBS = 4,
    XHCI_NEW = 7,
    XHCI_NO_HUB = 8, /* the device was tried and is not a hub, or is behind too many hubs */
};

enum {
    XHCI_SPEED_FULL = 1,
    XHCI_SPEED_LOW,
    XHCI_SPEED_HIGH,
    XHCI_SPEED_SUPER
}; /* 7.2.2.1.1; higher values are faster */

struct xhci_trb { /* 4.11 */
    uint64_t data;
    uint32_t status, control;
};
_Static_assert(sizeof(struct xhci_trb) == 16, "4.11.1");

struct xhci_ring {
    struct xhci_trb *trbs;
    struct xhci_trb *first; /* first TRB that is pushed but not yet given to the controller; NULL:
                               none */
    uint32_t next;
    uint32_t cycle;
};

struct xhci_setup {
    uintptr_t mmio; /* BAR 0, mapped */
    struct dma_window window;
    uint64_t (*ticks)(void);
    uint64_t ticks_hz;
};

/* A device, and the controller's data about it; zeroed by its owner. */
struct xhci_device {
    _Alignas(XHCI_PAGE) struct xhci_trb trbs[3][XHCI_RING + XHCI_GAP];
    _Alignas(XHCI_PAGE) uint32_t output[XHCI_PAGE / 4];
    _Alignas(XHCI_PAGE) uint8_t data[XHCI_PAGE]; /* of control transfers */
    struct xhci_ring control, in, out;
    uint32_t in_id, out_id;     /* context numbers of its endpoints; 0 if it has none */
    uint32_t place;             /* its place, below xhci_n_places */
    uint32_t port, slot, speed; /* port: the controller's own. slot 0: not attached */
    uint32_t
        route; /* four bits for each hub's port, the hub nearest to the controller lowest (8.9 of USB
                  3.2) */
    uint32_t tier;     /* number of hubs between it and the controller */
    uint32_t hub_port; /* its port at the hub; 0 if it is at the controller */
    struct xhci_hub *hub;
    struct xhci_trb kept[XHCI_KEPT];
    uint32_t n_kept;
};

/* A hub; the entry is used while its slot is not 0. */
struct xhci_hub {
    struct xhci_device device;
    struct usb_hub_facts facts;
    bool works; /* the hub has reported the state of a port */
};

/* All state of one controller; zeroed by its owner. */
struct xhci {
    _Alignas(XHCI_PAGE) struct xhci_trb events[XHCI_EVENTS];
    _Alignas(XHCI_PAGE) struct xhci_trb trbs[XHCI_RING];
    _Alignas(XHCI_PAGE) uint32_t input[XHCI_PAGE / 4];
    _Alignas(XHCI_PAGE) uint64_t contexts[XHCI_PAGE / 8];
    _Alignas(XHCI_PAGE) uint64_t scratch_list[XHCI_PAGE / 8];
    _Alignas(XHCI_PAGE) struct {
        uint64_t at;
        uint32_t size, reserved;
    } table[XHCI_PAGE / 16];
    _Alignas(XHCI_PAGE) uint8_t scratch[XHCI_SCRATCH][XHCI_PAGE];
    _Alignas(XHCI_PAGE) struct xhci_setup setup;
    struct xhci_ring commands;
    struct xhci_device *devices[XHCI_SLOTS + 1]; /* by slot */
    uint32_t next_event, event_cycle;
    uint32_t operational, doorbells, runtime; /* where their registers begin */
    uint32_t context_words, n_ports;
    struct xhci_hub hubs[XHCI_HUBS];
    uint32_t starts; /* number of starts */
    uint8_t
        news[XHCI_PLACES +
             1]; /* by place: the bits above. xhci_is_unused sets those of a device that came, and
                    a bit is cleared when the device is tried */
    bool running;
    bool deaf;            /* a command had no answer: only a new start helps */
    bool dead;            /* the last stop failed: data may still move */
    bool careful;         /* the device did not answer before, so it gets longer pauses */
    uint32_t tried_place; /* the place at which a device was last attached, or failed */
    uint32_t structure_1, structure_2,
        parameters;       /* HCSPARAMS1, 2 and HCCPARAMS1 as the controller said (5.3) */
    void (*alive)(void);  /* board.alive, called before each wait; NULL: there is no watchdog */
    const char *left_out; /* error message about an ignored hub, until it is reported */
    const char *why;      /* error message if the controller cannot be used, else NULL */
};

/* Start the controller and find its hubs. ERR_NO_DEVICE: nothing answers; other errors set
 * x->why. */
enum err xhci_start(struct xhci *x);

/* Stop and reset the controller; afterwards it moves no data and has no devices. Returns
 * ERR_TIMEOUT if it does not stop. */
enum err xhci_stop(struct xhci *x);

/* The number of places, which count from 1: the controller's own ports, then those of hubs, even of
 * absent ones. */
uint32_t xhci_n_places(const struct xhci *x);

/* Reset the device at the place and give it an address. ERR_NO_DEVICE: nothing is there. */
enum err xhci_attach(struct xhci *x, struct xhci_device *d, uint32_t place);
/* Release a device: afterwards none of its data move. On an error the controller must be
 * stopped. */
enum err xhci_detach(struct xhci *x, struct xhci_device *d);
bool xhci_is_connected(struct xhci *x, const struct xhci_device *d);

/* True if the place has a device for which this controller has no struct xhci_device. *fresh: the
 * device came since the last reset of the place, or xhci_clear_change; x->news notes this, too. */
bool xhci_is_unused(struct xhci *x, uint32_t place, bool *fresh);

/* Clear the change of a place whose device is ignored. A device that comes later is fresh again. */
void xhci_clear_change(struct xhci *x, uint32_t place);

/* Open the device at the place if it is a hub, and switch its ports on. A device is tried once
 * after it came. ERR_NO_DEVICE: the device is not a hub, or is behind five other hubs.
 * ERR_NO_SPACE: there are too many hubs, and x->left_out says so, once. ERR_BUSY: the device was
 * tried before, and may be a hub that does not work. */
enum err xhci_hub_open(struct xhci *x, uint32_t place);
/* True for a port of a released hub that xhci_hub_open may open again, because this hub, or one
 * between it and the controller, is there and was not tried yet. */
bool xhci_hub_returns(struct xhci *x, uint32_t place);
/* Release hubs that were pulled. */
void xhci_hub_look(struct xhci *x);

/* Run a control transfer of the device, with its data in d->data, which is zeroed before input.
 * ERR_UNSUPPORTED: the device refused (a stall). */
enum err xhci_control(struct xhci *x, struct xhci_device *d, uint8_t type, uint8_t request,
                      uint16_t value, uint16_t index, uint16_t bytes);

/* Read the configuration's descriptor, and those after it, into d->data; *bytes: how many
 * arrived. */
enum err xhci_get_configuration(struct xhci *x, struct xhci_device *d, uint32_t *bytes);
enum err xhci_set_configuration(struct xhci *x, struct xhci_device *d, uint8_t configuration);

/* Wait after a port's reset: 10 ms (USB 2.0, 7.1.7.5), or 150 ms if the device did not answer
 * before, because devices behind some hubs need more (Linux: USB_QUIRK_HUB_SLOW_RESET). */
void xhci_recover(const struct xhci *x);

/* Wait 2.2 s, once, if the device did not answer before. Some devices need this pause between their
 * device descriptor and the next request (Linux: USB_QUIRK_DELAY_INIT). */
void xhci_give_time(struct xhci *x);

/* True if a device that did not answer should be tried again, starting with the port's reset: after
 * a pause, and twice at most. `tries` begins with 0. */
bool xhci_asks_again(struct xhci *x, uint32_t place, enum err e, unsigned *tries);

/* Make the endpoints ready. */
enum err xhci_configure(struct xhci *x, struct xhci_device *d, const struct usb_ends *ends);

/* Put a transfer into a ring; xhci_ring hands over everything that was put, in one step. tell: the
 * transfer's end causes an event. */
void xhci_put(struct xhci *x, struct xhci_ring *ring, const void *data, uint32_t bytes,
              uint32_t packet, bool tell);
void xhci_ring(struct xhci *x, struct xhci_device *d, struct xhci_ring *ring, uint32_t id);

/* Clear an endpoint's halt in the controller, and drop the transfers in its ring. */
enum err xhci_unhalt(struct xhci *x, struct xhci_device *d, const struct xhci_ring *ring,
                     uint32_t id);

/* Get the next event of the device's transfers; events of other devices are kept for them. Returns
 * false if there is none yet. */
bool xhci_next(struct xhci *x, struct xhci_device *d, struct xhci_trb *event);

/* Report HCSPARAMS1 and 2, HCCPARAMS1, registers, ports and devices, for the option `diag`. of: a
 * struct xhci. */
struct facts;
void xhci_facts(const void *of, const struct facts *f);

struct xhci_deadline {
    uint64_t start, ticks;
};
struct xhci_deadline xhci_deadline_in(const struct xhci *x, uint32_t ms);
bool xhci_is_over(const struct xhci *x, const struct xhci_deadline *d);
void xhci_pause(const struct xhci *x, uint32_t ms);

/* Feed the watchdog, which waits for 15 s, before a step that ends within 6 s: a pause, the wait
 * for a command or a control transfer, a drive's command. Several devices may take longer
 * together. */
void xhci_alive(const struct xhci *x);

#endif
