/* RAM of PolarFire SoC. The FPGA's design says where RAM lies (SEG0 and SEG1 of the DDR controller); the device tree was made for one of
 * them, and one of another age lists the same RAM twice. */
#ifndef INGOT_BOARD_DRIVERS_SOC_MSS_RAM_H
#define INGOT_BOARD_DRIVERS_SOC_MSS_RAM_H

#include "board/board.h"
#include "board/device_tree.h"

/* Try, by a word of each range beyond 4 GiB, whether it is RAM of the range at 0x80000000 once more, and leave such ranges out of
 * machine->ram, which are mapped and used by nobody yet. Tries nothing if the tree names no cache controller. */
void mss_ram_leave_twins_out(const struct device_tree *tree, struct machine *machine);

#endif
