/* Step 1. Addresses that are needed before the device tree can be read, with the manual's name and
 * section for each; linker/image.ld.S explains the names. */
#ifndef INGOT_BOARD_TEMPLATE_MEMORY_H
#define INGOT_BOARD_TEMPLATE_MEMORY_H

#define BOARD_RAM_BASE 0x80000000
/* The image is loaded here, after the firmware; the address is a multiple of 2 MiB. */
#define BOARD_LOAD_ADDRESS 0x80200000
/* The firmware passes the tree in a register. */
#define BOARD_DEVICE_TREE_ADDRESS 0

#define BOARD_UART_ADDRESS 0x10000000
#define BOARD_TIMEBASE_HZ 10000000

#endif
