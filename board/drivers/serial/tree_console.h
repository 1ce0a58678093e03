/* Finds the console's UART in the device tree: for early_init. */
#ifndef INGOT_BOARD_DRIVERS_SERIAL_TREE_CONSOLE_H
#define INGOT_BOARD_DRIVERS_SERIAL_TREE_CONSOLE_H

#include <stddef.h>
#include <stdint.h>

#include "board/device_tree.h"

/* Map `bytes` of registers of the tree's console if it is of that kind ("arm,pl011"), otherwise
 * those at `address`, so that there is a console for the message about a wrong tree. Returns
 * their address, or 0 if they cannot be mapped. node: for gic_device_line and plic_device_line,
 * which find no interrupt in it if the tree has no console of that kind; the line is then
 * polled. */
uintptr_t tree_console_map(const struct device_tree *tree, const char *kind, uintptr_t address,
                           size_t bytes, struct device_tree_node *node);

#endif
