/* The device tree's host bridge, found once for all drivers that need it, because finding it again
 * would switch off devices that are in use. */
#ifndef INGOT_BOARD_DRIVERS_BUS_TREE_PCI_H
#define INGOT_BOARD_DRIVERS_BUS_TREE_PCI_H

#include "board/drivers/bus/pci_ecam.h"

/* Get the host bridge; NULL if the tree has none. */
struct pci_ecam *tree_pci(const struct device_tree *tree);

#endif
