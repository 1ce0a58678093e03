/* The Cadence GEM of a device tree: the first whose cable is connected, else the first with a PHY.
 * The functions, except tree_gem_open, are those of struct board_network. */
#ifndef INGOT_BOARD_DRIVERS_NET_TREE_GEM_H
#define INGOT_BOARD_DRIVERS_NET_TREE_GEM_H

#include "board/device_tree.h"
#include "board/drivers/net/gem.h"

struct tree_gem_setup {
    const char *compatible;   /* of the nodes */
    struct dma_window window; /* how the controllers see memory */
    uint64_t (*ticks)(void);
    uint64_t ticks_hz;
    /* Size of the node's second register block, which selects the transmit clock (FU540 manual,
     * "GEMGXL Management"); 0: none. */
    size_t clock_bytes;
};

const char *tree_gem_open(const struct device_tree *tree, const struct tree_gem_setup *setup,
                          uint8_t address[6]);
bool tree_gem_is_up(void);
bool tree_gem_send(const uint8_t *frame, size_t bytes);
size_t tree_gem_receive(uint8_t *to, size_t room);

#endif
