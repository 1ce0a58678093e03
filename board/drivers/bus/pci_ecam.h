/* PCI Express behind a host bridge with a generic configuration window ("pci-host-ecam-generic"):
 * numbers buses, sets memory BARs and bridges' windows, finds functions and switches them on.
 * Whatever the firmware has already set up stays as it is. */
#ifndef INGOT_BOARD_DRIVERS_BUS_PCI_ECAM_H
#define INGOT_BOARD_DRIVERS_BUS_PCI_ECAM_H

#include <stdbool.h>
#include <stdint.h>

#include "board/device_tree.h"
#include "board/err.h"

enum { PCI_FUNCTIONS = 256 }; /* functions of a bus: device * 8 + function */

/* Addresses for BARs as the CPU sees them; adding to_bus gives the bus's address. */
struct pci_window {
    uint64_t next, end; /* the free part */
    uint64_t to_bus;
};

/* A function's number is its bus * PCI_FUNCTIONS + device * 8 + function. Bus 0 is the host
 * bridge's first bus. */
struct pci_ecam {
    uintptr_t config; /* configuration space of bus 0 */
    unsigned first_bus, most_buses, n_buses;
    bool is_port;           /* only device 0 of each bus exists, even if other numbers answer */
    struct pci_window low;  /* below 4 GiB on the bus */
    struct pci_window high; /* for 64-bit BARs of the root bus that do not fit below 4 GiB */
};

/* Find and map the host bridge; number the buses, at most eight bridges deep, and give each
 * memory BAR an address. ERR_NO_DEVICE: the tree has no host bridge with a 32-bit memory window. */
enum err pci_ecam_find(struct pci_ecam *pci, const struct device_tree *tree);

/* As pci_ecam_find, for a bridge that is not in a tree: config, first_bus, most_buses, is_port, low
 * and high must be set. */
enum err pci_ecam_open(struct pci_ecam *pci);

/* Find the next function of this class (base class and subclass; 0x0805: an SD controller) from
 * *function on. Returns false if there are no more functions. */
bool pci_ecam_next(const struct pci_ecam *pci, unsigned *function, unsigned class);

/* The function's programming interface; among USB controllers, 0x30 is an xHCI. */
unsigned pci_ecam_interface(const struct pci_ecam *pci, unsigned function);

/* Switch on the function's memory and bus mastering; returns the address of its memory BAR 0,
 * mapped. Returns 0 if the function has no BAR 0, or if the bus has no room for it. */
uintptr_t pci_ecam_enable(struct pci_ecam *pci, unsigned function);

/* Report the functions with their classes and links, for the option `diag`. `of` is a struct
 * pci_ecam that was opened. */
struct facts;
void pci_ecam_facts(const void *of, const struct facts *f);

/* A function's resources, kept in case it is pulled and plugged in again. */
struct pci_kept {
    uintptr_t config;
    uint32_t id, bar[2];
};

/* Store the resources of an enabled function. */
void pci_ecam_keep(const struct pci_ecam *pci, unsigned function, struct pci_kept *out);

/* Restore the resources if the function lost them. Returns false if the function is gone, or is
 * another kind of device. */
bool pci_ecam_put_back(const struct pci_kept *kept);

#endif
