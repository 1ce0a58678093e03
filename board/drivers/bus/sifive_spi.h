/* The SPI controller of SiFive's chips, driven by the core, one bit wide (FU540-C000 manual v1p3,
 * chapter "SPI"). */
#ifndef INGOT_BOARD_DRIVERS_BUS_SIFIVE_SPI_H
#define INGOT_BOARD_DRIVERS_BUS_SIFIVE_SPI_H

#include "board/drivers/bus/spi.h"

struct sifive_spi {
    struct spi_bus bus;
    uintptr_t base;
    uint64_t clock_hz;
};

/* Take over the controller at base, which is mapped as device memory, for the device on chip select
 * 0. clock_hz is the clock that the controller divides. A controller that maps flash into memory
 * stops doing so. */
void sifive_spi_init(struct sifive_spi *spi, uintptr_t base, uint64_t clock_hz);

#endif
