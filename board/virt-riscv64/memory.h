/* Addresses of QEMU's `virt` machine that are needed before the device tree can be read (QEMU
 * docs/system/riscv/virt). OpenSBI lies in the first 2 MiB of RAM. */
#ifndef INGOT_BOARD_VIRT_RISCV64_MEMORY_H
#define INGOT_BOARD_VIRT_RISCV64_MEMORY_H

#define BOARD_RAM_BASE 0x80000000
#define BOARD_LOAD_ADDRESS 0x80200000
/* SBI always passes the tree in a1. */
#define BOARD_DEVICE_TREE_ADDRESS 0

/* The UART's address, for the error message that there is no device tree. */
#define BOARD_UART_ADDRESS 0x10000000
#define BOARD_TIMEBASE_HZ 10000000

#endif
