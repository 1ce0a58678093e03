/* The differences between the steppings of BCM2712. No manual is public: facts are from the maker's
 * device trees (bcm2712.dtsi, bcm2712d0.dtsi) and from the bare-metal environment Circle. */
#ifndef INGOT_BOARD_DRIVERS_SOC_BCM2712_H
#define INGOT_BOARD_DRIVERS_SOC_BCM2712_H

#include <stdint.h>

enum { BCM2712_UART_LINES = 2 };

/* List the possible interrupts of UART10 (INTIDs); returns their number. `id` is the register of
 * product and stepping, with 0x2712 in the upper half and 0x21 (C1) or 0x30 (D0) in the lowest
 * byte; any other value gives both lines. The tree is not used, because a D0 loads C1's tree if the
 * files on the card are older. */
unsigned bcm2712_uart_lines(uint32_t id, uint32_t lines[BCM2712_UART_LINES]);

#endif
