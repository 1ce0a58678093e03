/* Power State Coordination Interface (Arm DEN 0022), versions 0.2 and later: cores on, machine
 * off, through the firmware below. */
#ifndef INGOT_BOARD_DRIVERS_PSCI_H
#define INGOT_BOARD_DRIVERS_PSCI_H

#include <stdint.h>

#include "board/device_tree.h"
#include "board/err.h"

enum psci_conduit { PSCI_NONE, PSCI_HVC, PSCI_SMC };

struct psci {
    enum psci_conduit conduit;
};

/* Read the conduit from the tree. ERR_NO_DEVICE: no PSCI node; ERR_UNSUPPORTED: its method is
 * neither hvc nor smc. */
enum err psci_init(struct psci *psci, const struct device_tree *tree);

/* Start the core with that MPIDR at a physical address, with `context` in x0. ERR_NO_DEVICE: no
 * PSCI, or the firmware refused. */
enum err psci_core_on(const struct psci *psci, uint64_t mpidr, uintptr_t entry, uint64_t context);

/* Switch the machine off; returns where the firmware cannot. */
void psci_system_off(const struct psci *psci);

/* Restart it; returns where the firmware cannot. */
void psci_system_reset(const struct psci *psci);

#endif
