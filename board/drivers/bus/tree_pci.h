/* The host bridge that the device tree lists, found once for all drivers that look behind it: to find it again would switch off devices
 * that are at work. */
#ifndef INGOT_BOARD_DRIVERS_BUS_TREE_PCI_H
#define INGOT_BOARD_DRIVERS_BUS_TREE_PCI_H

#include "board/drivers/bus/pci_ecam.h"

/* NULL: the tree has none. */
struct pci_ecam *tree_pci(const struct device_tree *tree);

#endif
