/* Power State Coordination Interface (Arm DEN 0022), versions 0.2 and later: starts cores and
 * switches the machine off, through the firmware below. A machine has one PSCI, so a board puts
 * these functions directly into its struct board. */
#ifndef INGOT_BOARD_DRIVERS_SOC_PSCI_H
#define INGOT_BOARD_DRIVERS_SOC_PSCI_H

#include <stdbool.h>
#include <stdint.h>

#include "board/device_tree.h"
#include "board/err.h"

/* Read the conduit and the cores from the tree; without a blob there is one core. */
void psci_init(const struct device_tree *tree);

enum psci_conduit { PSCI_NONE, PSCI_HVC, PSCI_SMC };

/* As psci_init, but not from a tree. `ids` has the MPIDR affinities of n cores, core 0's
 * first. */
void psci_open(enum psci_conduit conduit, const uint64_t *ids, unsigned n);

/* True if the tree has a node for PSCI with the method hvc or smc. */
bool psci_is_there(void);

/* For board.start_core; the cores then sleep in gic_wait. Without PSCI, all cores have started with
 * core 0 and wait in the pen of boot/arm64/start.S. */
enum err psci_start_core(unsigned core, void (*entry)(void *arg), void *arg);

/* For board.restart and board.power_off. */
void psci_restart(void);
void psci_power_off(int status) __attribute__((noreturn));

#endif
