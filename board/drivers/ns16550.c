#include "board/drivers/ns16550.h"

/* Registers and bits: table II of the data sheet. */
enum {
    REG_DATA = 0,
    REG_INTERRUPTS = 1,
    REG_FIFO = 2,
    REG_LINE_STATUS = 5,
    FIFO_ON = 1 << 0,
    STATUS_RECEIVED = 1 << 0,
    STATUS_TRANSMIT_READY = 1 << 5,
    STATUS_TRANSMIT_IDLE = 1 << 6,
    DRAIN_POLLS = 1000000,
};

static uint32_t read_register(const struct ns16550 *uart, unsigned index)
{
    uintptr_t at = uart->base + (uintptr_t)index * uart->stride;

    if (uart->width == 4)
        return *(volatile uint32_t *)at;
    return *(volatile uint8_t *)at;
}

static void write_register(const struct ns16550 *uart, unsigned index, uint8_t value)
{
    uintptr_t at = uart->base + (uintptr_t)index * uart->stride;

    if (uart->width == 4)
        *(volatile uint32_t *)at = value;
    else
        *(volatile uint8_t *)at = value;
}

void ns16550_init(struct ns16550 *uart, uintptr_t base, unsigned reg_shift, unsigned reg_io_width)
{
    uart->base = base;
    uart->stride = 1u << reg_shift;
    uart->width = reg_io_width == 4 ? 4 : 1;
    write_register(uart, REG_INTERRUPTS, 0);
    /* Not cleared: what somebody typed while the firmware ran is meant for us. */
    write_register(uart, REG_FIFO, FIFO_ON);
}

void ns16550_putc(const struct ns16550 *uart, char c)
{
    if (uart->base == 0)
        return;
    while ((read_register(uart, REG_LINE_STATUS) & STATUS_TRANSMIT_READY) == 0) {
    }
    write_register(uart, REG_DATA, (uint8_t)c);
}

int ns16550_getc(const struct ns16550 *uart)
{
    if (uart->base == 0 || (read_register(uart, REG_LINE_STATUS) & STATUS_RECEIVED) == 0)
        return -1;
    return (int)(read_register(uart, REG_DATA) & 0xff);
}

void ns16550_drain(const struct ns16550 *uart)
{
    for (int i = 0; uart->base != 0 && i < DRAIN_POLLS; i++)
        if ((read_register(uart, REG_LINE_STATUS) & STATUS_TRANSMIT_IDLE) != 0)
            return;
}
