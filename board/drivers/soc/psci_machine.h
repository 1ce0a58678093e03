/* An arm64 machine with a device tree, a GIC, PSCI and a PL011 as its console. There is only one
 * machine, so a board puts psci_, gic_ and serial_ functions directly into its struct board. */
#ifndef INGOT_BOARD_DRIVERS_SOC_PSCI_MACHINE_H
#define INGOT_BOARD_DRIVERS_SOC_PSCI_MACHINE_H

#include <stdint.h>

#include "board/device_tree.h"
#include "board/drivers/irq/gic.h"
#include "board/drivers/soc/generic_timer.h"
#include "board/drivers/soc/psci.h"

/* For early_init: read the tree at dtb (NULL: none) and find its GIC and PSCI. Open the console
 * that the tree names, else the one at uart_address, and keep the firmware's rate. The console uses
 * the tree's interrupt, or is polled. Missing parts are skipped. Returns the tree, which stays
 * valid; its blob is NULL if there is none. */
const struct device_tree *psci_machine_init(const void *dtb, uintptr_t uart_address);

/* Clock and cores, as members of struct board. */
#define PSCI_MACHINE \
    .ticks = generic_timer_ticks, .ticks_hz = generic_timer_hz, .start_core = psci_start_core, \
    .wait = gic_wait, .wake = gic_wake

#endif
