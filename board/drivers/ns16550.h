/* 16550 UART, polled, FIFOs on (National Semiconductor PC16550D data sheet, June 1995). */
#ifndef INGOT_BOARD_DRIVERS_NS16550_H
#define INGOT_BOARD_DRIVERS_NS16550_H

#include <stdint.h>

struct ns16550 {
    uintptr_t base;
    unsigned stride; /* bytes from one register to the next */
    unsigned width;  /* of an access: 1 or 4 bytes */
};

/* Take over a UART whose rate the firmware has set; base is mapped as device memory. reg_shift
 * and reg_io_width as the device tree has them (0 and 1 where it is silent). */
void ns16550_init(struct ns16550 *uart, uintptr_t base, unsigned reg_shift, unsigned reg_io_width);

/* Blocks while the transmitter is full. */
void ns16550_putc(const struct ns16550 *uart, char c);

/* The next received byte, or -1. */
int ns16550_getc(const struct ns16550 *uart);

/* Wait until the last byte has left, bounded: before the power goes. */
void ns16550_drain(const struct ns16550 *uart);

#endif
