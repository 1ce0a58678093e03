/* PCI Express functions on the root bus of a host bridge with a generic configuration window
 * ("pci-host-ecam-generic"): found, given addresses, switched on. */
#ifndef INGOT_BOARD_DRIVERS_BUS_PCI_ECAM_H
#define INGOT_BOARD_DRIVERS_BUS_PCI_ECAM_H

#include <stdbool.h>
#include <stdint.h>

#include "board/device_tree.h"
#include "board/err.h"

struct pci_ecam {
    uintptr_t config;   /* configuration space of bus 0 */
    uint64_t next, end; /* the free part of the memory window, as the CPU sees it */
    uint64_t to_bus;    /* a CPU address plus this is the bus's */
};

/* Find and map the bridge. ERR_NO_DEVICE: the tree has none with a 32-bit memory window. */
enum err pci_ecam_find(struct pci_ecam *pci, const struct device_tree *tree);

/* The next function at or after *function (0 to 255; device * 8 + function) of this class (base
 * class and subclass, 0x0805 for an SD controller). False: no more. */
bool pci_ecam_next(const struct pci_ecam *pci, unsigned *function, unsigned class);

/* Where the function's memory BAR 0 lies, mapped: firmware's address where that has set one,
 * else one of the window. Memory and bus mastering are on afterwards. 0: it has no BAR 0, or
 * there is no room. */
uintptr_t pci_ecam_enable(struct pci_ecam *pci, unsigned function);

#endif
