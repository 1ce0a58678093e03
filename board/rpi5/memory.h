/* Addresses of BCM2712 as its cores see them. No manual of the chip is public; the addresses are
 * from the maker's device tree, bcm2712.dtsi. */
#ifndef INGOT_BOARD_RPI5_MEMORY_H
#define INGOT_BOARD_RPI5_MEMORY_H

#define BOARD_RAM_BASE 0
#define BOARD_LOAD_ADDRESS 0x80000
#define BOARD_DEVICE_TREE_ADDRESS 0

#define BOARD_PCIE 0x1000110000        /* the external connector */
#define BOARD_RP1_PCIE 0x1000120000    /* never reset this port: RP1's UARTs are behind it */
#define BOARD_PCIE_RESCAL 0x1000119500 /* shared by all ports */
#define BOARD_PCIE_WINDOW 0x1b80000000
#define BOARD_RESETS 0x1001504318
#define BOARD_SD 0x1000fff000
#define BOARD_SD_CONFIG 0x1000fff400
#define BOARD_CHIP_ID 0x1001504004 /* product and stepping; not in the tree (Circle, bcm2712.h) */
#define BOARD_MAILBOX 0x107c013880
#define BOARD_UART 0x107d001000 /* uart10, the connector between the HDMI sockets */
#define BOARD_WATCHDOG 0x107d200000
#define BOARD_GPIO_AON 0x107d517c00 /* always on */
#define BOARD_GIC_DISTRIBUTOR 0x107fff9000
#define BOARD_GIC_INTERFACE 0x107fffa000

#endif
