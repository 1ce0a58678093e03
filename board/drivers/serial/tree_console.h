/* Finds the console's UART in the device tree, for early_init. */
#ifndef INGOT_BOARD_DRIVERS_SERIAL_TREE_CONSOLE_H
#define INGOT_BOARD_DRIVERS_SERIAL_TREE_CONSOLE_H

#include <stddef.h>
#include <stdint.h>

#include "board/device_tree.h"

/* Map `bytes` bytes of registers of the tree's console if its UART is of that kind ("arm,pl011").
 * Otherwise map the registers at `address`, so that a wrong tree can be reported. Returns the
 * registers' address; 0 if the mapping fails. Sets *node for gic_device_line and plic_device_line.
 * If the tree has no console of that kind, *node has no interrupt, and the line is polled. */
uintptr_t tree_console_map(const struct device_tree *tree, const char *kind, uintptr_t address,
                           size_t bytes, struct device_tree_node *node);

#endif
