/* Arm PL011 UART (PrimeCell, DDI 0183). */
#ifndef INGOT_BOARD_DRIVERS_SERIAL_PL011_H
#define INGOT_BOARD_DRIVERS_SERIAL_PL011_H

#include <stdbool.h>
#include <stdint.h>

#include "board/drivers/serial/serial.h"

struct pl011 {
    uintptr_t base; /* 0: no UART, output is dropped */
    bool listens;   /* true if the UART interrupts when bytes have arrived; pl011_init keeps it */
};

/* Set 8 data bits, no parity, FIFOs on. If clock_hz or baud is 0, the firmware's rate stays. Waits
 * for the last byte first. The registers are mapped as device memory. */
void pl011_init(struct pl011 *uart, uintptr_t base, uint32_t clock_hz, uint32_t baud);

/* As pl011_init, but a rate that the firmware set stays; clock_hz and baud are used only if the
 * divisor is 0, as after a reset. */
void pl011_init_left(struct pl011 *uart, uintptr_t base, uint32_t clock_hz, uint32_t baud);

/* True if the firmware has set up this UART and left it on. The registers are mapped. */
bool pl011_is_on(uintptr_t base);

/* Report the registers of the rate, and the clock that they divide; clock_hz 0: not known. */
struct facts;
void pl011_facts(const struct pl011 *uart, uint32_t clock_hz, const struct facts *f);
/* The same for a second serial line; a function for facts_add. `of` is a struct pl011. */
void pl011_second_facts(const void *of, const struct facts *f);

/* The driver for serial_open(), with a struct pl011. If base is 0, bytes to send are dropped. */
extern const struct serial_uart pl011_serial;

#endif
