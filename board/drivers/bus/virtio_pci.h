/* Registers of virtio devices on PCI (VIRTIO 1.2, section 4.1) under their virtio-mmio numbers, so
 * that a driver is written once. virtio_pci_open returns what a driver uses as the address of
 * its registers. */
#ifndef INGOT_BOARD_DRIVERS_BUS_VIRTIO_PCI_H
#define INGOT_BOARD_DRIVERS_BUS_VIRTIO_PCI_H

#include <stdint.h>

#include "board/drivers/bus/pci_ecam.h"

enum { VIRTIO_PCI_QUEUES = 4 /* most queues of a driver */ };

/* A device; the struct must not move. */
struct virtio_pci {
    uint32_t device_id;
    uintptr_t registers, fields; /* the common registers, and the device's own fields */
    uint32_t fields_bytes;
    uintptr_t notify; /* base of the queues' doorbells */
    uint32_t notify_bytes, notify_step;
    uintptr_t doorbells[VIRTIO_PCI_QUEUES]; /* doorbells of the started queues; 0: none */
};

/* Set up a PCI function and switch it on. Returns 0 if the function is not a virtio device of this
 * kind (VIRTIO_DEVICE_ID), or has no registers of version 1. */
uintptr_t virtio_pci_open(struct virtio_pci *v, const struct pci_ecam *pci, unsigned function,
                          uint32_t device_id);

#endif
