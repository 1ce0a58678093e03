/* The lines of a Raspberry Pi's row of 40 pins: GPIO 0 to 27. Up to a Pi 4 they are on the SoC,
 * from a Pi 5 on on RP1. */
#ifndef INGOT_BOARD_DRIVERS_GPIO_PI_LINES_H
#define INGOT_BOARD_DRIVERS_GPIO_PI_LINES_H

#include "board/board.h"

/* Set the address of bcm_gpio's registers, mapped. Call it before the lines are used. */
void pi_lines_open(uintptr_t gpio);

/* Give lines 2 and 3 to the I2C bus. */
void pi_lines_take_i2c(void);

/* Pins of the SoC for struct board, except those of the serial line. */
extern const struct board_pins pi_lines;

/* The reason why a line must not be touched: it is not on the row, or identifies a board on top;
 * NULL if it is free. */
const char *pi_lines_error_message(unsigned line);

#endif
