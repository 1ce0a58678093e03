/* Addresses of the Versal ACAP that are needed before the device tree can be read (AM011, "4 GB
 * Processor System Address Map"). */
#ifndef INGOT_BOARD_VERSAL_MEMORY_H
#define INGOT_BOARD_VERSAL_MEMORY_H

#define BOARD_RAM_BASE 0x00000000 /* DDR low, 2 GiB */
#define BOARD_LOAD_ADDRESS 0x00200000
/* Firmware passes the tree in a register. */
#define BOARD_DEVICE_TREE_ADDRESS 0

#define BOARD_UART_ADDRESS 0xff000000 /* UART 0 of the LPD */

#endif
