/* The lines of a Raspberry Pi's row of 40 pins: GPIO 0 to 27, on the SoC up to a Pi 4, on RP1
 * from a Pi 5 on. */
#ifndef INGOT_BOARD_DRIVERS_GPIO_PI_LINES_H
#define INGOT_BOARD_DRIVERS_GPIO_PI_LINES_H

#include "board/board.h"

/* The location of bcm_gpio's registers, mapped. Before the lines are used. */
void pi_lines_open(uintptr_t gpio);

/* Lines 2 and 3 are the I2C bus's from here on. */
void pi_lines_take_i2c(void);

/* struct board's, on the SoC. Not the serial line's. */
extern const struct board_pins pi_lines;

/* Why nobody may touch a line that is not on the row, or that a board on top is known by; NULL:
 * it may. */
const char *pi_lines_error_message(unsigned line);

#endif
