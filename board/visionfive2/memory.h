/* Addresses of the JH7110 that are needed before or without the device tree (JH7110 TRM, "System
 * Memory Map"). OpenSBI lies in the first 2 MiB of RAM, and U-Boot's kernel_addr_r after it. */
#ifndef INGOT_BOARD_VISIONFIVE2_MEMORY_H
#define INGOT_BOARD_VISIONFIVE2_MEMORY_H

#define BOARD_RAM_BASE 0x40000000
#define BOARD_LOAD_ADDRESS 0x40200000
/* SBI always passes the tree in a1. */
#define BOARD_DEVICE_TREE_ADDRESS 0

#define BOARD_UART_ADDRESS 0x10000000
#define BOARD_UART_HZ 24000000         /* the oscillator */
#define BOARD_SDIO1_ADDRESS 0x16020000 /* the slot */
#define BOARD_SDIO0_ADDRESS 0x16010000 /* the eMMC socket */
#define BOARD_SYSCRG_ADDRESS 0x13020000
#define BOARD_SYSCON_ADDRESS 0x13030000
#define BOARD_IOMUX 0x13040000 /* TRM, system memory map: SYS IOMUX */
#define BOARD_STG_CRG_ADDRESS 0x10230000
#define BOARD_STG_SYSCON_ADDRESS 0x10240000
#define BOARD_AONCRG_ADDRESS 0x17000000
#define BOARD_AON_SYSCON_ADDRESS 0x17010000
#define BOARD_GMAC0_ADDRESS 0x16030000
#define BOARD_GMAC1_ADDRESS 0x16040000
#define BOARD_TIMEBASE_HZ 4000000

#endif
