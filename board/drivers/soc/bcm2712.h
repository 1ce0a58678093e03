/* The differences between the steppings of BCM2712. No manual is public: facts are those of the maker's
 * device trees (bcm2712.dtsi, bcm2712d0.dtsi) and of the bare-metal environment Circle. */
#ifndef INGOT_BOARD_DRIVERS_SOC_BCM2712_H
#define INGOT_BOARD_DRIVERS_SOC_BCM2712_H

#include <stdint.h>

enum { BCM2712_UART_LINES = 2 };

/* The interrupts that may be UART10's, as INTIDs, and how many there are. id: the register of product
 * and stepping, 0x2712 in the upper half, 0x21 (C1) or 0x30 (D0) in the lowest byte; both lines if it is
 * none of BCM2712's. The tree is not asked: that of C1 is loaded on a D0 whose card is older. */
unsigned bcm2712_uart_lines(uint32_t id, uint32_t lines[BCM2712_UART_LINES]);

#endif
