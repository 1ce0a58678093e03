/* The platform-level interrupt controller of RISC-V, for one interrupt: the console's (RISC-V
 * Platform-Level Interrupt Controller Specification 1.0.0). */
#ifndef INGOT_BOARD_DRIVERS_IRQ_PLIC_H
#define INGOT_BOARD_DRIVERS_IRQ_PLIC_H

#include "board/device_tree.h"
#include "board/err.h"

/* Have core 0, which calls, take the first interrupt of the console's UART by serial.h; that line
 * is open. Maps the registers of the controller. The hart's context is the place of its S-mode in
 * the controller's interrupts-extended. ERR_NO_DEVICE: no controller, none that reaches this hart,
 * or the UART's node has no interrupt; or an error of mmu_map. */
enum err plic_take_input(const struct device_tree *tree, const struct device_tree_node *uart);

#endif
