/* Simulated GPIO lines keep the level that is written and print it on standard error, so that a
 * model that switches lines can be tried on this computer. */
#ifndef INGOT_BOARD_HOST_HOST_PINS_H
#define INGOT_BOARD_HOST_HOST_PINS_H

#include "board/board.h"

enum { HOST_PINS = 32 };

/* An input is low, unless the line was an output and high before. */
extern const struct board_pins host_pins;

#endif
