/* Addresses of the FU540-C000 that are needed before or without the device tree (manual v1p3,
 * chapter "Memory Map"). OpenSBI lies in the first 2 MiB of RAM. */
#ifndef INGOT_BOARD_SIFIVE_U_MEMORY_H
#define INGOT_BOARD_SIFIVE_U_MEMORY_H

#define BOARD_RAM_BASE 0x80000000
#define BOARD_LOAD_ADDRESS 0x80200000
/* SBI always passes the tree in a1. */
#define BOARD_DEVICE_TREE_ADDRESS 0

#define BOARD_UART_ADDRESS 0x10010000
#define BOARD_PRCI_ADDRESS 0x10000000
#define BOARD_TIMEBASE_HZ 1000000
/* These rates are used if the tree does not give them. */
#define BOARD_CARD_HZ 20000000
#define BOARD_FLASH_HZ 25000000

#endif
