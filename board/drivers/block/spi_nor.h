/* Serial NOR flash, read through an SPI bus: JEDEC id, fast read (JESD216; ISSI IS25WP256D data
 * sheet, chapter 8). The chip holds one .ingot, which starts at its first byte. Read only. */
#ifndef INGOT_BOARD_DRIVERS_BLOCK_SPI_NOR_H
#define INGOT_BOARD_DRIVERS_BLOCK_SPI_NOR_H

#include <stdbool.h>
#include <stdint.h>

#include "board/block_device.h"
#include "board/drivers/bus/spi.h"
#include "board/err.h"

struct spi_nor {
    struct spi_bus *bus;
    struct block_request *request; /* in progress, or NULL */
    uint32_t sectors_done;
    bool long_addresses; /* addresses have 4 bytes, for more than 16 MiB */
    char name[40];
};

/* Ask for the id at the bus rate hz, which stays set, and fill *out; `address` names the device.
 * ERR_NO_DEVICE: nothing answers, or the answer gives no size. */
enum err spi_nor_probe(struct spi_nor *nor, struct spi_bus *bus, uint32_t hz, uintptr_t address,
                       struct block_device *out);

#endif
