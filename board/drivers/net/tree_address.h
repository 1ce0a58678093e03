/* The address of a network interface, as a device tree has it. */
#ifndef INGOT_BOARD_DRIVERS_NET_TREE_ADDRESS_H
#define INGOT_BOARD_DRIVERS_NET_TREE_ADDRESS_H

#include "board/device_tree.h"

/* (6) mac-address, else local-mac-address; NULL: the node has neither, or not one of a station.
 * Points into the tree. */
const uint8_t *tree_address(const struct device_tree *tree, const struct device_tree_node *node);

#endif
