/* Shared parts of the driver: rings and commands. */
#ifndef INGOT_BOARD_DRIVERS_USB_XHCI_PRIVATE_H
#define INGOT_BOARD_DRIVERS_USB_XHCI_PRIVATE_H

#include "board/drivers/usb/xhci.h"

uint64_t xhci_address(const struct xhci *x, const void *at);

/* Make an empty ring of XHCI_RING TRBs. */
void xhci_set_ring(struct xhci_ring *ring, struct xhci_trb *trbs);

/* Push a TRB. The first TRB that is handed over keeps the wrong cycle bit until all are there
 * (4.9.2). */
void xhci_push(struct xhci *x, struct xhci_ring *ring, uint64_t data, uint32_t status,
               uint32_t control);

/* Wait for the event of the command whose TRB is at this bus address (d NULL), or of the device's
 * control transfer. */
enum err xhci_wait(struct xhci *x, const struct xhci_device *d, uint64_t command,
                   struct xhci_trb *event);

/* Run a command and wait for its end (4.6). The second function runs a command for the device's
 * slot. ERR_IO: the controller refused it. */
enum err xhci_obey(struct xhci *x, uint32_t type, uint64_t data, uint32_t control,
                   struct xhci_trb *event);
enum err xhci_obey_slot(struct xhci *x, const struct xhci_device *d, uint32_t type, uint64_t data,
                        uint32_t id);

/* These are in xhci_hub.c. The first function returns the hub that has the port of a place, or NULL
 * if the port is the controller's own; the second resets the port; the third returns true if a
 * device is there, or enabled. */
struct xhci_hub *xhci_hub_of(struct xhci *x, uint32_t place, uint32_t *port);
enum err xhci_hub_reset(struct xhci *x, struct xhci_hub *h, uint32_t port, uint32_t *speed);
bool xhci_hub_has(struct xhci *x, struct xhci_hub *h, uint32_t port, bool enabled, bool *fresh);

/* True if the controller's own port still has the enabled device that was attached. */
bool xhci_port_works(const struct xhci *x, uint32_t port);

/* The high-speed hub that talks to a slow device for the controller, and the hub's port; NULL if
 * there is none. */
struct xhci_hub *xhci_translator(const struct xhci_device *d, uint32_t *port);
/* Let the translator forget its transfer for this endpoint of the device. */
enum err xhci_clear_translator(struct xhci *x, struct xhci_device *d, uint32_t id);

/* Drop the transfers in an endpoint's ring. command: TRB_RESET_ENDPOINT if it is halted, else
 * TRB_STOP_ENDPOINT. The endpoint's record in the translator stays: see xhci_clear_translator. */
enum err xhci_drop(struct xhci *x, const struct xhci_device *d, const struct xhci_ring *ring,
                   uint32_t id, uint32_t command);

/* The register of the controller's own port. */
unsigned xhci_port_register(const struct xhci *x, uint32_t port);

/* Tell the controller that the device is a hub (4.6.6). */
enum err xhci_tell_hub(struct xhci *x, struct xhci_hub *h);

#endif
