/* The storage that a device tree lists: NVMe drives and USB drives on PCI Express, cards on
 * virtio-mmio, cards in SD controllers on PCI Express, then banks of CFI flash. */
#ifndef INGOT_BOARD_DRIVERS_BLOCK_TREE_STORAGE_H
#define INGOT_BOARD_DRIVERS_BLOCK_TREE_STORAGE_H

#include "board/board.h"
#include "board/device_tree.h"
#include "board/drivers/block/cfi_flash.h"
#include "board/drivers/block/nvme.h"
#include "board/drivers/block/virtio_blk.h"
#include "board/drivers/bus/pci_ecam.h"
#include "board/drivers/sd/sd_card.h"
#include "board/drivers/sd/sdhci.h"
#include "board/drivers/usb/usb.h"

enum { TREE_STORAGE_SLOTS = 2, TREE_STORAGE_DRIVES = 2, TREE_STORAGE_USB = 2 };

struct tree_sd_slot {
    struct sdhci host;
    struct sd_card card;
};

/* devices[n] is device n; its state is in cards[n] for a virtio card, in banks[n] for a bank. */
struct tree_storage {
    struct nvme drives[TREE_STORAGE_DRIVES];
    struct pci_kept drive_slots[TREE_STORAGE_DRIVES];
    struct usb usb[TREE_STORAGE_USB];
    struct virtio_blk cards[BOARD_MAX_BLOCK];
    struct tree_sd_slot slots[TREE_STORAGE_SLOTS];
    struct cfi_flash banks[BOARD_MAX_BLOCK];
    struct block_device devices[BOARD_MAX_BLOCK];
    struct block_device *found[BOARD_MAX_BLOCK]; /* the devices in devices[], except those of
                                                    `usb` */
    unsigned n_devices;
    uint64_t dma_end; /* limit from board.limit_dma for cards; 0: DMA reaches all memory */
};

/* The board.find_storage of a machine with a device tree: map and probe the storage that the tree
 * lists, fill devices[] and return their number. Virtio cards come in descending order of their
 * addresses. An erased bank is a device too, because every bank is searched for a model. A device
 * that does not answer is left out, with two exceptions: the SD slot's device then says why it has
 * no card, and an NVMe controller reports its error. */
unsigned tree_storage_find(struct tree_storage *storage, const struct device_tree *tree,
                           struct block_device *devices[BOARD_MAX_BLOCK]);

#endif
