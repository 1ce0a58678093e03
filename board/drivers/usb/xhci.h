/* A USB host controller (eXtensible Host Controller Interface 1.2) with one device in use, at one of its
 * own ports: command ring, event ring, the rings of the device's control endpoint and of two bulk
 * endpoints. Polled; one core. */
#ifndef INGOT_BOARD_DRIVERS_USB_XHCI_H
#define INGOT_BOARD_DRIVERS_USB_XHCI_H

#include <stdbool.h>
#include <stdint.h>

#include "board/drivers/dma/dma.h"
#include "board/drivers/usb/usb_descriptors.h"
#include "board/err.h"

enum {
    XHCI_PAGE = 4096,
    XHCI_RING = 64,    /* TRBs, the last one links back */
    XHCI_EVENTS = 256, /* more than commands and transfers under way can cause */
    XHCI_SLOTS = 8,
    XHCI_SCRATCH = 16, /* pages that the controller may want for itself */
    XHCI_CONTROL = 1,  /* the control endpoint's number in contexts (4.5.1) */
};

struct xhci_trb { /* 4.11 */
    uint64_t data;
    uint32_t status, control;
};
_Static_assert(sizeof(struct xhci_trb) == 16, "4.11.1");

struct xhci_ring {
    struct xhci_trb *trbs;
    struct xhci_trb *first; /* of what is pushed and not yet the controller's; NULL: nothing */
    uint32_t next;
    uint32_t cycle;
};

struct xhci_setup {
    uintptr_t mmio; /* BAR 0, mapped */
    struct dma_window window;
    uint64_t (*ticks)(void);
    uint64_t ticks_hz;
};

/* All state of one controller; zeroed by its owner. */
struct xhci {
    _Alignas(XHCI_PAGE) struct xhci_trb events[XHCI_EVENTS];
    _Alignas(XHCI_PAGE) struct xhci_trb trbs[4][XHCI_RING];
    _Alignas(XHCI_PAGE) uint32_t input[XHCI_PAGE / 4];
    _Alignas(XHCI_PAGE) uint32_t output[XHCI_PAGE / 4];
    _Alignas(XHCI_PAGE) uint64_t contexts[XHCI_PAGE / 8];
    _Alignas(XHCI_PAGE) uint64_t scratch_list[XHCI_PAGE / 8];
    _Alignas(XHCI_PAGE) uint8_t data[XHCI_PAGE]; /* of control transfers */
    _Alignas(XHCI_PAGE) struct {
        uint64_t at;
        uint32_t size, reserved;
    } table[XHCI_PAGE / 16];
    _Alignas(XHCI_PAGE) uint8_t scratch[XHCI_SCRATCH][XHCI_PAGE];
    _Alignas(XHCI_PAGE) struct xhci_setup setup;
    struct xhci_ring commands, control, in, out;
    uint32_t in_id, out_id; /* the bulk endpoints' numbers in contexts */
    uint32_t next_event, event_cycle;
    uint32_t operational, doorbells, runtime; /* where their registers begin */
    uint32_t context_words, n_ports;
    uint32_t port, slot, speed; /* of the device; slot 0: none */
    const char *why;            /* a sentence when the controller cannot be used, else NULL */
};

/* From reset to running. ERR_NO_DEVICE: nothing answers; otherwise x->why has a sentence. */
enum err xhci_start(struct xhci *x);

/* Stop and reset the controller; afterwards it moves no data. ERR_TIMEOUT. */
enum err xhci_stop(struct xhci *x);

/* Reset what is at the port (from 1) and give it an address. ERR_NO_DEVICE: nothing is there. */
enum err xhci_attach(struct xhci *x, uint32_t port);
void xhci_detach(struct xhci *x);
bool xhci_is_connected(const struct xhci *x);

/* A control transfer of the device, its data in x->data, zeroed before where it comes in.
 * ERR_UNSUPPORTED: the device refused (a stall). */
enum err xhci_control(struct xhci *x, uint8_t type, uint8_t request, uint16_t value, uint16_t index,
                      uint16_t bytes);

/* Make the bulk endpoints ready. */
enum err xhci_configure(struct xhci *x, const struct usb_storage_ends *ends);

/* Put a transfer into a bulk ring; xhci_ring hands over what was put, in one. tell: an event follows. */
void xhci_put(struct xhci *x, struct xhci_ring *ring, const void *data, uint32_t bytes,
              uint32_t packet, bool tell);
void xhci_ring(struct xhci *x, struct xhci_ring *ring, uint32_t id);

/* Clear a halt of an endpoint in the controller and drop what its ring had. */
enum err xhci_unhalt(struct xhci *x, struct xhci_ring *ring, uint32_t id);

/* The next event. False: there is none yet. */
bool xhci_next(struct xhci *x, struct xhci_trb *event);

struct xhci_deadline {
    uint64_t start, ticks;
};
struct xhci_deadline xhci_deadline_in(const struct xhci *x, uint32_t ms);
bool xhci_is_over(const struct xhci *x, const struct xhci_deadline *d);

#endif
