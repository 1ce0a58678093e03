/* Addresses of BCM2837 as its cores see them (BCM2835 ARM Peripherals, section 1.2.3, with the
 * peripherals at 0x3f000000; QA7, "ARM quad A7 core", section 3). */
#ifndef INGOT_BOARD_RPI3_MEMORY_H
#define INGOT_BOARD_RPI3_MEMORY_H

#define BOARD_RAM_BASE 0
#define BOARD_LOAD_ADDRESS 0x80000
#define BOARD_DEVICE_TREE_ADDRESS 0
#define BOARD_A53_VENEERS

#define BOARD_DMA 0x3f007000
#define BOARD_INTERRUPTS 0x3f00b200
#define BOARD_MAILBOX 0x3f00b880
#define BOARD_WATCHDOG 0x3f100000
#define BOARD_GPIO 0x3f200000
#define BOARD_UART 0x3f201000
#define BOARD_ARASAN 0x3f300000
#define BOARD_I2C1 0x3f804000
#define BOARD_LOCAL 0x40000000

#endif
