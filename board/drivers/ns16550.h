/* National Semiconductor 16550A UART (PC16550D data sheet) and what copies it, polled. */
#ifndef INGOT_BOARD_DRIVERS_NS16550_H
#define INGOT_BOARD_DRIVERS_NS16550_H

#include <stdbool.h>
#include <stdint.h>

#include "board/device_tree.h"

struct ns16550 {
    uintptr_t base;     /* 0: no UART, output is dropped */
    uint8_t reg_shift;  /* registers are 1 << reg_shift bytes apart */
    uint8_t io_width;   /* bytes of an access: 1 or 4 */
    uint32_t clock_hz;  /* input clock; 0: unknown */
    uint32_t baud;      /* wanted; 0: as the firmware set it */
};

/* Read base, reg-shift, reg-io-width, clock-frequency and current-speed of the UART's node.
 * False: it has no reg, or registers of a width that this driver does not speak. */
bool ns16550_read_node(struct ns16550 *uart, const struct device_tree *tree,
                       const struct device_tree_node *node);

/* 8 data bits, no parity, FIFOs on, no interrupts; the rate only where clock and baud are known.
 * The registers, 8 << reg_shift bytes, are mapped as device memory. */
void ns16550_init(struct ns16550 *uart);

/* Blocks while the transmitter is full. */
void ns16550_putc(const struct ns16550 *uart, char c);

/* The next received byte; -1: none, or one with an error. */
int ns16550_getc(const struct ns16550 *uart);

/* Wait until the last bit has left. */
void ns16550_drain(const struct ns16550 *uart);

#endif
