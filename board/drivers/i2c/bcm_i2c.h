/* The I2C controllers ("BSC") of BCM2835 to BCM2711 as a master that polls (BCM2835 ARM
 * Peripherals, chapter 3; BCM2711 ARM Peripherals, chapter 3). */
#ifndef INGOT_BOARD_DRIVERS_I2C_BCM_I2C_H
#define INGOT_BOARD_DRIVERS_I2C_BCM_I2C_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"

enum {
    BCM_I2C_BYTES = 0x20,
    BCM_I2C_MOST = 16 /* most bytes of a transfer: the size of the FIFO */
};

struct bcm_i2c {
    uintptr_t base; /* mapped as device memory */
    uint64_t (*ticks)(void);
    uint64_t ticks_hz;
};

/* Set the bus clock to at most 100 kHz. core_hz is the core clock that is divided; if it is 0
 * (unknown), the highest possible clock is assumed. */
void bcm_i2c_open(struct bcm_i2c *b, uint32_t core_hz);

/* Do one transfer of 1 to BCM_I2C_MOST bytes, with a start and a stop, to or from a device with
 * a 7-bit address. ERR_NO_DEVICE: no device answers, or it refuses a byte; ERR_TIMEOUT: the
 * clock was held low too long, or the bus does not become idle; ERR_IO: fewer bytes than
 * requested. */
enum err bcm_i2c_write(struct bcm_i2c *b, unsigned address, const uint8_t *bytes, unsigned n);
enum err bcm_i2c_read(struct bcm_i2c *b, unsigned address, uint8_t *bytes, unsigned n);

#endif
