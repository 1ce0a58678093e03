/* Addresses of the PolarFire SoC that are needed before or without the device tree (TRM, "Memory
 * Map"). OpenSBI is in the first 2 MiB of RAM; HSS is in the L2 scratchpad. */
#ifndef INGOT_BOARD_ICICLE_MEMORY_H
#define INGOT_BOARD_ICICLE_MEMORY_H

#define BOARD_RAM_BASE 0x80000000
#define BOARD_LOAD_ADDRESS 0x80200000
/* SBI always passes the tree in a1. */
#define BOARD_DEVICE_TREE_ADDRESS 0

#define BOARD_SYSREG 0x20002000
#define BOARD_SD 0x20008000     /* TRM, MSS memory map: MMC */
#define BOARD_GPIO_2 0x20122000 /* TRM, MSS memory map: GPIO2 */
#define BOARD_UART_ADDRESS 0x20100000
#define BOARD_UART_HZ 150000000 /* the APB's clock in the kit's design, which HSS sets */
#define BOARD_TIMEBASE_HZ 1000000

#endif
