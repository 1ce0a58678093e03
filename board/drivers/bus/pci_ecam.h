/* PCI Express behind a host bridge with a generic configuration window ("pci-host-ecam-generic"):
 * buses numbered, memory BARs and bridges' windows set, functions found and switched on. Firmware's
 * settings stay. */
#ifndef INGOT_BOARD_DRIVERS_BUS_PCI_ECAM_H
#define INGOT_BOARD_DRIVERS_BUS_PCI_ECAM_H

#include <stdbool.h>
#include <stdint.h>

#include "board/device_tree.h"
#include "board/err.h"

enum { PCI_FUNCTIONS = 256 }; /* functions of a bus: device * 8 + function */

/* Addresses for BARs, as the CPU sees them; one of them plus to_bus is the bus's. */
struct pci_window {
    uint64_t next, end; /* the free part */
    uint64_t to_bus;
};

/* A function's number is its bus * PCI_FUNCTIONS + device * 8 + function. Buses count from the
 * first one of the host bridge, as 0. */
struct pci_ecam {
    uintptr_t config; /* configuration space of bus 0 */
    unsigned first_bus, most_buses, n_buses;
    bool is_port;           /* each bus has only device 0, whatever other numbers answer */
    struct pci_window low;  /* below 4 GiB of the bus */
    struct pci_window high; /* for 64-bit BARs of the root bus that do not fit below 4 GiB */
};

/* Find and map the host bridge; number the buses, at most eight bridges deep, and give each
 * memory BAR an address. ERR_NO_DEVICE: the tree has none with a 32-bit memory window. */
enum err pci_ecam_find(struct pci_ecam *pci, const struct device_tree *tree);

/* The same for a bridge that is not in a tree: config, first_bus, most_buses, is_port, low and
 * high must be set. */
enum err pci_ecam_open(struct pci_ecam *pci);

/* The next function at or after *function of this class (base class and subclass, 0x0805 for an SD
 * controller). False: no more. */
bool pci_ecam_next(const struct pci_ecam *pci, unsigned *function, unsigned class);

/* Its programming interface, 0x30 for an xHCI among USB controllers. */
unsigned pci_ecam_interface(const struct pci_ecam *pci, unsigned function);

/* Returns the address of the function's memory BAR 0, mapped. Memory and bus mastering are on
 * afterwards. 0: it has no BAR 0, or there was no room. */
uintptr_t pci_ecam_enable(struct pci_ecam *pci, unsigned function);

/* The functions with their classes and links, for the option `diag`. of: a struct pci_ecam that
 * was opened. */
struct facts;
void pci_ecam_facts(const void *of, const struct facts *f);

/* The resources that a function got, for when it is pulled and plugged in again. */
struct pci_kept {
    uintptr_t config;
    uint32_t id, bar[2];
};

/* For a function that is enabled. */
void pci_ecam_keep(const struct pci_ecam *pci, unsigned function, struct pci_kept *out);

/* Restore them if the function forgot them. False: it is not there, or another kind of device
 * is. */
bool pci_ecam_put_back(const struct pci_kept *kept);

#endif
