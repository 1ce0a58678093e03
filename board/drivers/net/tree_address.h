/* The address of a network interface in a device tree. */
#ifndef INGOT_BOARD_DRIVERS_NET_TREE_ADDRESS_H
#define INGOT_BOARD_DRIVERS_NET_TREE_ADDRESS_H

#include "board/device_tree.h"

/* (6) mac-address, else local-mac-address; NULL: the node has neither, or not that of a station.
 * Points into the tree. */
const uint8_t *tree_address(const struct device_tree *tree, const struct device_tree_node *node);

#endif
