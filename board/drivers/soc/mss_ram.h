/* RAM of PolarFire SoC. The FPGA's design decides the RAM's addresses (SEG0 and SEG1 of the DDR
 * controller). A device tree is made for one design; a tree for another design may list the same
 * RAM twice. */
#ifndef INGOT_BOARD_DRIVERS_SOC_MSS_RAM_H
#define INGOT_BOARD_DRIVERS_SOC_MSS_RAM_H

#include "board/board.h"
#include "board/device_tree.h"

/* Test, by one word of each range beyond 4 GiB, whether the range shows the RAM at 0x80000000
 * again. Remove such ranges from machine->ram, before anything is mapped or used. Without a cache
 * controller in the tree the function tests nothing. */
void mss_ram_leave_twins_out(const struct device_tree *tree, struct machine *machine);

#endif
