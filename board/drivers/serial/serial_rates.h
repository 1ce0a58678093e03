/* Rates of serial lines that usually work at both ends. */
#ifndef INGOT_BOARD_DRIVERS_SERIAL_SERIAL_RATES_H
#define INGOT_BOARD_DRIVERS_SERIAL_SERIAL_RATES_H

#include <stdint.h>

/* The highest usual rate up to `most` that clock_hz, divided by an integer of at least `least`,
 * reaches within 2 %; 115200 if there is none. */
uint32_t serial_best_baud(uint64_t clock_hz, uint32_t least, uint32_t most);

#endif
