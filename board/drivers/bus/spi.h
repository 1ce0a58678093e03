/* An SPI bus with one device on it. The idle clock is low, data are sampled on its rising edge
 * (mode 0), and the most significant bit comes first. A controller's driver fills a struct
 * spi_bus. */
#ifndef INGOT_BOARD_DRIVERS_BUS_SPI_H
#define INGOT_BOARD_DRIVERS_BUS_SPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spi_bus {
    /* Set the clock to at most hz, or to the controller's slowest rate if that is above hz. */
    void (*set_hz)(struct spi_bus *bus, uint32_t hz);

    /* Pull the device's chip select low, or release it. */
    void (*select)(struct spi_bus *bus, bool on);

    /* Send `bytes` bytes and receive `bytes`. If send is NULL, ones are sent; if receive is NULL,
     * bytes are dropped. send and receive may be the same buffer. Blocks for as long as the bus
     * takes. */
    void (*exchange)(struct spi_bus *bus, const uint8_t *send, uint8_t *receive, size_t bytes);

    /* Send `bytes` bytes of ones while no device is selected. */
    void (*idle)(struct spi_bus *bus, size_t bytes);
};

#endif
