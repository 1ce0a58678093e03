/* The lines of a machine whose device tree names a PL061, as QEMU's virt for arm64 does. */
#ifndef INGOT_BOARD_DRIVERS_GPIO_TREE_LINES_H
#define INGOT_BOARD_DRIVERS_GPIO_TREE_LINES_H

#include "board/board.h"
#include "board/device_tree.h"

/* Find the first PL061: the address of its registers, mapped; 0 if there is none. */
uintptr_t tree_lines_find(const struct device_tree *tree);

#endif
