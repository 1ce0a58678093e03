/* RAM of PolarFire SoC. The FPGA's design decides where RAM lies (SEG0 and SEG1 of the DDR
 * controller); the device tree was made for one design, and a tree of another version lists the
 * same RAM twice. */
#ifndef INGOT_BOARD_DRIVERS_SOC_MSS_RAM_H
#define INGOT_BOARD_DRIVERS_SOC_MSS_RAM_H

#include "board/board.h"
#include "board/device_tree.h"

/* Test, with a word of each range beyond 4 GiB, whether it is the RAM of the range at 0x80000000
 * again, and remove such ranges from machine->ram before anything is mapped or used. Tries nothing
 * if the tree names no cache controller. */
void mss_ram_leave_twins_out(const struct device_tree *tree, struct machine *machine);

#endif
