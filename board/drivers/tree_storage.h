/* The storage that a device tree lists: cards behind virtio-mmio, then banks of CFI flash. */
#ifndef INGOT_BOARD_DRIVERS_TREE_STORAGE_H
#define INGOT_BOARD_DRIVERS_TREE_STORAGE_H

#include "board/board.h"
#include "board/device_tree.h"
#include "board/drivers/cfi_flash.h"
#include "board/drivers/virtio_blk.h"

/* Device n is devices[n], and lives in cards[n] or in banks[n]. */
struct tree_storage {
    struct virtio_blk cards[BOARD_MAX_BLOCK];
    struct cfi_flash banks[BOARD_MAX_BLOCK];
    struct block_device devices[BOARD_MAX_BLOCK];
    unsigned n_devices;
};

/* Map and probe what the tree lists, fill devices[], return how many: board.find_storage for a
 * machine that describes itself. Cards come in descending order of their addresses. A bank that is
 * erased is a device, too: a model is looked for in each. What does not answer is left out. */
unsigned tree_storage_find(struct tree_storage *storage, const struct device_tree *tree,
                           struct block_device *devices[BOARD_MAX_BLOCK]);

#endif
