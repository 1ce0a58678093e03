/* The I2C bus of a Raspberry Pi's row of 40 pins up to a Pi 4: I2C1, which is BSC1 on GPIO 2
 * (data) and 3 (clock). */
#ifndef INGOT_BOARD_DRIVERS_I2C_PI_I2C_H
#define INGOT_BOARD_DRIVERS_I2C_PI_I2C_H

#include "board/board.h"
#include "board/drivers/soc/bcm_mailbox.h"

/* Set the addresses of BSC1's and bcm_gpio's registers, and the mailbox that reports the rate of
 * the core clock. Call it before the bus is used; BSC1 is mapped and set up at the first request
 * for a sensor. */
void pi_i2c_open(uintptr_t bsc1, uintptr_t gpio, struct bcm_mailbox *mailbox);

/* For the member `i2c` of struct board. */
extern const struct board_i2c pi_i2c;

#endif
