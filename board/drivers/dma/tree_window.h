/* Reads from a device tree how a bus sees RAM: its dma-ranges (Devicetree Specification 0.4,
 * 2.3.9). */
#ifndef INGOT_BOARD_DRIVERS_DMA_TREE_WINDOW_H
#define INGOT_BOARD_DRIVERS_DMA_TREE_WINDOW_H

#include "board/device_tree.h"
#include "board/drivers/dma/dma.h"

/* The window of the bus with the alias `name`, else of the bus /name. The window's end is 0 (DMA
 * reaches nothing) if the tree (blob NULL), the bus or its dma-ranges are missing, or if no row of
 * dma-ranges begins at our address 0. */
struct dma_window tree_window(const struct device_tree *tree, const char *name, bool coherent);

#endif
