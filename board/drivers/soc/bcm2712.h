/* The differences between the steppings of BCM2712. No manual is public: facts are those of the
 * maker's device trees (bcm2712.dtsi, bcm2712d0.dtsi) and of the bare-metal environment Circle. */
#ifndef INGOT_BOARD_DRIVERS_SOC_BCM2712_H
#define INGOT_BOARD_DRIVERS_SOC_BCM2712_H

#include <stdint.h>

enum { BCM2712_UART_LINES = 2 };

/* The possible interrupts of UART10, as INTIDs, and their number. id: the register of product
 * and stepping, 0x2712 in the upper half, 0x21 (C1) or 0x30 (D0) in the lowest byte; for any
 * other value both lines. The tree is not used: a D0 with an older card loads the tree of C1. */
unsigned bcm2712_uart_lines(uint32_t id, uint32_t lines[BCM2712_UART_LINES]);

#endif
