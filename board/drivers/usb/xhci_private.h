/* What the driver's files share: rings and commands. */
#ifndef INGOT_BOARD_DRIVERS_USB_XHCI_PRIVATE_H
#define INGOT_BOARD_DRIVERS_USB_XHCI_PRIVATE_H

#include "board/drivers/usb/xhci.h"

uint64_t xhci_address(const struct xhci *x, const void *at);
void xhci_pause(const struct xhci *x, uint32_t ms);

/* An empty ring in XHCI_RING TRBs. */
void xhci_set_ring(struct xhci_ring *ring, struct xhci_trb *trbs);

/* 4.9.2: the first one of a hand-over keeps the wrong cycle until all are there. */
void xhci_push(struct xhci *x, struct xhci_ring *ring, uint64_t data, uint32_t status,
               uint32_t control);

/* Wait for the event of a command (d NULL) or of the device's control transfer. */
enum err xhci_wait(struct xhci *x, const struct xhci_device *d, struct xhci_trb *event);

/* 4.6: one command, waited for; and one for the device's slot. ERR_IO: the controller refused it. */
enum err xhci_obey(struct xhci *x, uint32_t type, uint64_t data, uint32_t control,
                   struct xhci_trb *event);
enum err xhci_obey_slot(struct xhci *x, const struct xhci_device *d, uint32_t type, uint64_t data,
                        uint32_t id);

/* xhci_hub.c: the hub whose port a place is, NULL for a place of the controller's own; the port's reset; whether
 * something is there, and enabled. */
struct xhci_hub *xhci_hub_of(struct xhci *x, uint32_t place, uint32_t *port);
enum err xhci_hub_reset(struct xhci *x, struct xhci_hub *h, uint32_t port, uint32_t *speed);
bool xhci_hub_has(struct xhci *x, struct xhci_hub *h, uint32_t port, bool enabled, bool *fresh);

/* The controller's own port has something, and it is enabled. */
bool xhci_port_works(const struct xhci *x, uint32_t port);

/* Tell the controller that the device is a hub (4.6.6). */
enum err xhci_tell_hub(struct xhci *x, struct xhci_hub *h);

#endif
