/* The network of a device tree: the first virtio-net device on virtio-mmio, else on PCI. The
 * functions are those of struct board_network. */
#ifndef INGOT_BOARD_DRIVERS_NET_TREE_NETWORK_H
#define INGOT_BOARD_DRIVERS_NET_TREE_NETWORK_H

#include "board/device_tree.h"

const char *tree_network_open(const struct device_tree *tree, uint8_t address[6]);
bool tree_network_is_up(void);
bool tree_network_send(const uint8_t *frame, size_t bytes);
size_t tree_network_receive(uint8_t *to, size_t room);

#endif
