/* Clocks of the FU540-C000 (manual v1p3, chapter "Clocking and Reset"). */
#ifndef INGOT_BOARD_DRIVERS_SOC_SIFIVE_PRCI_H
#define INGOT_BOARD_DRIVERS_SOC_SIFIVE_PRCI_H

#include <stdint.h>

/* Map the registers at base and return the rate of tlclk, as the firmware has set it; UARTs and SPI
 * divide it. Returns 0 if the core PLL's fields are invalid. */
uint64_t sifive_prci_peripheral_hz(uintptr_t base);

#endif
