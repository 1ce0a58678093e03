/* Addresses of BCM2711 as its cores see them in "low peripheral" mode, which the firmware chooses
 * (BCM2711 ARM Peripherals, section 1.2.4). */
#ifndef INGOT_BOARD_RPI4_MEMORY_H
#define INGOT_BOARD_RPI4_MEMORY_H

#define BOARD_RAM_BASE 0
#define BOARD_LOAD_ADDRESS 0x80000
#define BOARD_DEVICE_TREE_ADDRESS 0

#define BOARD_PCIE 0xfd500000         /* bcm2711.dtsi, pcie0 */
#define BOARD_PCIE_WINDOW 0x600000000 /* its `ranges` */
#define BOARD_GENET 0xfd580000        /* ethernet@7d580000 */
#define BOARD_SCB_END 0x400000000     /* end of the addresses that GENET's bus reaches */
#define BOARD_DMA 0xfe007000
#define BOARD_MAILBOX 0xfe00b880
#define BOARD_WATCHDOG 0xfe100000
#define BOARD_GPIO 0xfe200000
#define BOARD_UART 0xfe201000
#define BOARD_ARASAN 0xfe300000
#define BOARD_EMMC2 0xfe340000
#define BOARD_I2C1 0xfe804000

#define BOARD_GIC_DISTRIBUTOR 0xff841000
#define BOARD_GIC_INTERFACE 0xff842000

#endif
