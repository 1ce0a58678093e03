/* The lines of a Raspberry Pi's row of 40 pins: GPIO 0 to 27. The lines are on the SoC up to a Pi
 * 4, and on RP1 from a Pi 5 on. */
#ifndef INGOT_BOARD_DRIVERS_GPIO_PI_LINES_H
#define INGOT_BOARD_DRIVERS_GPIO_PI_LINES_H

#include "board/board.h"

/* Set the address of bcm_gpio's registers, mapped. Call it before the lines are used. */
void pi_lines_open(uintptr_t gpio);

/* Give lines 2 and 3 to the I2C bus. */
void pi_lines_take_i2c(void);

/* The row's lines, for the member `pins` of struct board. The two of the UART are refused. */
extern const struct board_pins pi_lines;

/* The reason why a line must not be touched: it is not on the row, or identifies an add-on board;
 * NULL if it is free. */
const char *pi_lines_error_message(unsigned line);

#endif
