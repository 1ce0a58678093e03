/* The address of a network interface in a device tree. */
#ifndef INGOT_BOARD_DRIVERS_NET_TREE_ADDRESS_H
#define INGOT_BOARD_DRIVERS_NET_TREE_ADDRESS_H

#include "board/device_tree.h"

/* Returns the node's mac-address, else its local-mac-address (6 bytes in the tree). Returns NULL if
 * the node has neither, or if the address is not that of a station. */
const uint8_t *tree_address(const struct device_tree *tree, const struct device_tree_node *node);

#endif
