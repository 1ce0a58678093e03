#include "board/drivers/ns16550.h"

/* Registers, table II of the data sheet. */
enum {
    UART_DATA = 0, /* with DLAB: low byte of the divisor */
    UART_IER = 1,  /* with DLAB: high byte */
    UART_FCR = 2,
    UART_LCR = 3,
    UART_MCR = 4,
    UART_LSR = 5,
};

enum { FCR_ENABLE = 1 << 0 };
enum { LCR_8_BITS = 3, LCR_DLAB = 1 << 7 };
enum { MCR_DTR = 1 << 0, MCR_RTS = 1 << 1 };
enum {
    LSR_DATA_READY = 1 << 0,
    LSR_ERRORS = 7 << 2, /* parity, framing, break; an overrun leaves this byte good */
    LSR_TX_FREE = 1 << 5,
    LSR_TX_EMPTY = 1 << 6,
};

static uint32_t reg_read(const struct ns16550 *uart, unsigned reg)
{
    uintptr_t address = uart->base + ((uintptr_t)reg << uart->reg_shift);

    if (uart->io_width == 4)
        return *(volatile uint32_t *)address;
    return *(volatile uint8_t *)address;
}

static void reg_write(const struct ns16550 *uart, unsigned reg, uint32_t value)
{
    uintptr_t address = uart->base + ((uintptr_t)reg << uart->reg_shift);

    if (uart->io_width == 4)
        *(volatile uint32_t *)address = value;
    else
        *(volatile uint8_t *)address = (uint8_t)value;
}

static uint32_t node_number(const struct device_tree *tree, const struct device_tree_node *node,
                            const char *name, uint32_t otherwise)
{
    uint64_t value;

    if (!device_tree_number(tree, node, name, &value) || value > UINT32_MAX)
        return otherwise;
    return (uint32_t)value;
}

bool ns16550_read_node(struct ns16550 *uart, const struct device_tree *tree,
                       const struct device_tree_node *node)
{
    uint32_t shift = node_number(tree, node, "reg-shift", 0);
    uint32_t width = node_number(tree, node, "reg-io-width", 1);
    uint64_t base;

    if (!device_tree_reg(tree, node, 0, &base, NULL) || shift > 3 || (width != 1 && width != 4) ||
        (width == 4 && shift < 2))
        return false;
    uart->base = (uintptr_t)base;
    uart->reg_shift = (uint8_t)shift;
    uart->io_width = (uint8_t)width;
    uart->clock_hz = node_number(tree, node, "clock-frequency", 0);
    uart->baud = node_number(tree, node, "current-speed", 0);
    return true;
}

/* The divisor is clock / (16 baud), rounded. */
static void set_rate(const struct ns16550 *uart)
{
    uint64_t divisor;

    if (uart->clock_hz == 0 || uart->baud == 0)
        return;
    divisor = ((uint64_t)uart->clock_hz + (uint64_t)uart->baud * 8) / ((uint64_t)uart->baud * 16);
    if (divisor == 0 || divisor > 0xffff)
        return;
    reg_write(uart, UART_LCR, LCR_8_BITS | LCR_DLAB);
    reg_write(uart, UART_DATA, (uint32_t)divisor & 0xff);
    reg_write(uart, UART_IER, (uint32_t)divisor >> 8);
}

void ns16550_init(struct ns16550 *uart)
{
    if (uart->base == 0)
        return;
    ns16550_drain(uart); /* the firmware's last words */
    set_rate(uart);
    reg_write(uart, UART_LCR, LCR_8_BITS);
    reg_write(uart, UART_IER, 0);
    reg_write(uart, UART_MCR, MCR_DTR | MCR_RTS);
    /* Not reset: what somebody typed while the image loaded is meant for us. */
    reg_write(uart, UART_FCR, FCR_ENABLE);
}

void ns16550_putc(const struct ns16550 *uart, char c)
{
    if (uart->base == 0)
        return;
    while ((reg_read(uart, UART_LSR) & LSR_TX_FREE) == 0)
        continue;
    reg_write(uart, UART_DATA, (uint8_t)c);
}

int ns16550_getc(const struct ns16550 *uart)
{
    uint32_t status, data;

    if (uart->base == 0)
        return -1;
    status = reg_read(uart, UART_LSR); /* of the byte at the head of the FIFO; reading clears it */
    if ((status & LSR_DATA_READY) == 0)
        return -1;
    data = reg_read(uart, UART_DATA) & 0xff;
    return (status & LSR_ERRORS) != 0 ? -1 : (int)data;
}

void ns16550_drain(const struct ns16550 *uart)
{
    while (uart->base != 0 && (reg_read(uart, UART_LSR) & LSR_TX_EMPTY) == 0)
        continue;
}
