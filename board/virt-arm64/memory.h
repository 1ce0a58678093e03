/* Addresses of QEMU's `virt` machine that are needed before the device tree can be read
 * (QEMU docs/system/arm/virt). */
#ifndef INGOT_BOARD_VIRT_ARM64_MEMORY_H
#define INGOT_BOARD_VIRT_ARM64_MEMORY_H

#define BOARD_RAM_BASE 0x40000000
#define BOARD_LOAD_ADDRESS 0x40200000
/* An ELF file is started with x0 = 0; then the tree is at the base of RAM. */
#define BOARD_DEVICE_TREE_ADDRESS 0x40000000

/* The UART's address, for the error message that there is no device tree. */
#define BOARD_UART_ADDRESS 0x09000000

/* The secure world's PL061, whose pin 0 switches the machine off (-M virt,secure=on). */
#define BOARD_SECURE_GPIO 0x090b0000

#endif
