/* 16550 UART, FIFOs on (National Semiconductor PC16550D data sheet, June 1995). */
#ifndef INGOT_BOARD_DRIVERS_SERIAL_NS16550_H
#define INGOT_BOARD_DRIVERS_SERIAL_NS16550_H

#include <stdbool.h>
#include <stdint.h>

#include "board/drivers/serial/serial.h"

struct ns16550 {
    struct ns16550 *self; /* for facts */
    uintptr_t base;
    unsigned stride; /* bytes from one register to the next */
    unsigned width;  /* size of an access: 1 or 4 bytes */
    bool overrun;    /* there was an overrun that was not yet reported */
    bool listens;    /* by interrupt */
};

/* Take over a UART whose rate the firmware has set; base is mapped as device memory, or 0: no UART.
 * reg_shift and reg_io_width are from the device tree (0 and 1 if it does not give them). */
void ns16550_init(struct ns16550 *uart, uintptr_t base, unsigned reg_shift, unsigned reg_io_width);

/* The driver for serial_open(), with a struct ns16550. If base is 0, bytes to send are dropped. */
extern const struct serial_uart ns16550_serial;

/* Set 8N1 and the rate nearest to `baud` that the UART can make from clock_hz, after the last byte
 * has left. */
void ns16550_set_baud(struct ns16550 *uart, uint64_t clock_hz, uint32_t baud);

/* Report rate and state of the line, for the option `diag`. `of` is the address of the member self,
 * which points to the struct: reading the rate switches registers, so the struct itself cannot be
 * const. */
struct facts;
void ns16550_facts(const void *of, const struct facts *f);

#endif
