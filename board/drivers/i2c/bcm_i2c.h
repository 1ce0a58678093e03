/* The I2C controllers ("BSC") of BCM2835 to BCM2711 as a master that polls (BCM2835 ARM Peripherals, chapter 3;
 * BCM2711 ARM Peripherals, chapter 3). */
#ifndef INGOT_BOARD_DRIVERS_I2C_BCM_I2C_H
#define INGOT_BOARD_DRIVERS_I2C_BCM_I2C_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"

enum { BCM_I2C_BYTES = 0x20, BCM_I2C_MOST = 16 /* bytes of a transfer: what the FIFO has */ };

struct bcm_i2c {
    uintptr_t base; /* mapped as device memory */
    uint64_t (*ticks)(void);
    uint64_t ticks_hz;
};

/* Set the clock to 100 kHz at most, of the core's; 0: it is not known, and the highest there is is meant. */
void bcm_i2c_open(struct bcm_i2c *b, uint32_t core_hz);

/* One transfer with a start and a stop, of 1 .. BCM_I2C_MOST bytes, to or from a device of seven bits of address.
 * ERR_NO_DEVICE: nobody answers there, or the device refuses a byte; ERR_TIMEOUT: the clock was held low too long,
 * or the bus does not come to an end; ERR_IO: fewer bytes than asked for. */
enum err bcm_i2c_write(struct bcm_i2c *b, unsigned address, const uint8_t *bytes, unsigned n);
enum err bcm_i2c_read(struct bcm_i2c *b, unsigned address, uint8_t *bytes, unsigned n);

#endif
