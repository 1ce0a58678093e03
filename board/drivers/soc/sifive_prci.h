/* Clocks of the FU540-C000 (manual v1p3, chapter "Clocking and Reset"). */
#ifndef INGOT_BOARD_DRIVERS_SOC_SIFIVE_PRCI_H
#define INGOT_BOARD_DRIVERS_SOC_SIFIVE_PRCI_H

#include <stdint.h>

/* The rate of tlclk, which UARTs and SPI divide, as the firmware has set it. Maps the registers
 * at base. 0: the core PLL's fields are invalid. */
uint64_t sifive_prci_peripheral_hz(uintptr_t base);

#endif
