/* The UART of SiFive's chips, 8N1 (FU540-C000 manual v1p3, chapter "UART"). */
#ifndef INGOT_BOARD_DRIVERS_SERIAL_SIFIVE_UART_H
#define INGOT_BOARD_DRIVERS_SERIAL_SIFIVE_UART_H

#include <stdint.h>

#include "board/drivers/serial/serial.h"

struct sifive_uart {
    uintptr_t base;
};

/* Take over a UART whose rate the firmware has set; base is mapped as device memory, or 0: no
 * UART. */
void sifive_uart_init(struct sifive_uart *uart, uintptr_t base);

/* Set the rate nearest to `baud` that the UART can make from clock_hz; waits for the last byte
 * first. */
void sifive_uart_set_baud(struct sifive_uart *uart, uint64_t clock_hz, uint32_t baud);

/* The driver for serial_open(), with a struct sifive_uart. If base is 0, bytes to send are
 * dropped. */
extern const struct serial_uart sifive_uart_serial;

#endif
