/* Arm PL011 UART (PrimeCell, DDI 0183), polled. */
#ifndef INGOT_BOARD_DRIVERS_PL011_H
#define INGOT_BOARD_DRIVERS_PL011_H

#include <stdint.h>

struct pl011 {
    uintptr_t base; /* 0: no UART, output is dropped */
};

/* 8 data bits, no parity, FIFOs on, no interrupts. clock_hz or baud 0 keep the rate that the
 * firmware set. The registers are mapped as device memory. */
void pl011_init(struct pl011 *uart, uintptr_t base, uint32_t clock_hz, uint32_t baud);

/* Blocks while the transmitter is full. */
void pl011_putc(struct pl011 *uart, char c);

/* The next received byte; -1: none, or one with an error. */
int pl011_getc(struct pl011 *uart);

/* Wait until the last bit has left. */
void pl011_drain(struct pl011 *uart);

#endif
