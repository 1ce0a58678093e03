/* An SD card on an SPI bus as a struct sd_host (Physical Layer Simplified Specification 6.00,
 * chapter 7): CRC on in both directions; the polling core moves the data, one block per call. */
#ifndef INGOT_BOARD_DRIVERS_SD_SD_SPI_H
#define INGOT_BOARD_DRIVERS_SD_SD_SPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/drivers/bus/spi.h"
#include "board/drivers/sd/sd_host.h"

enum sd_spi_state {
    SD_SPI_IDLE,
    SD_SPI_TOKEN, /* the card has to send a block of data */
    SD_SPI_GIVE,  /* the card must become ready for a block of data, or for the token after the last
                     one */
    SD_SPI_BUSY,  /* the card is not ready yet */
};

struct sd_spi {
    struct sd_host host;
    struct spi_bus *bus;
    struct sd_command *command; /* in progress */
    enum sd_spi_state state;
    uint32_t blocks_done;
    bool no_status; /* the card does not know CMD13 */
};

/* Fill spi->host for sd_card_open; touches neither bus nor card. max_hz is the limit of bus and
 * wires; an SD card never gets more than 25 MHz this way. */
void sd_spi_init(struct sd_spi *spi, struct spi_bus *bus, uint32_t max_hz, uint64_t (*ticks)(void),
                 uint64_t ticks_hz);

/* The first returns a command's last byte, CRC7 and end bit; the second a block's CRC16 (4.5). */
uint8_t sd_spi_crc7(const uint8_t *data, size_t bytes);
uint16_t sd_spi_crc16(const uint8_t *data, size_t bytes);

#endif
