/* The platform-level interrupt controller of RISC-V (RISC-V Platform-Level Interrupt Controller
 * Specification 1.0.0), which delivers the interrupts of devices to core 0. */
#ifndef INGOT_BOARD_DRIVERS_IRQ_PLIC_H
#define INGOT_BOARD_DRIVERS_IRQ_PLIC_H

#include "board/device_tree.h"
#include "board/err.h"

/* Find the machine's controller, map it and let irq_take use it (board/interrupt.h). The hart's
 * context is the position of its S-mode in the controller's interrupts-extended. Call on core 0.
 * ERR_NO_DEVICE: no controller, or none that reaches this hart; or an error of mmu_map. */
enum err plic_init(const struct device_tree *tree);

/* The line (source number) of a device's first interrupt; 0 if its node has none. */
uint32_t plic_device_line(const struct device_tree *tree, const struct device_tree_node *node);

#endif
