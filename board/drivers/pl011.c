#include "board/drivers/pl011.h"

/* Section 3.2, byte offsets. */
enum {
    PL011_DR = 0x00,
    PL011_FR = 0x18,
    PL011_IBRD = 0x24,
    PL011_FBRD = 0x28,
    PL011_LCR_H = 0x2c,
    PL011_CR = 0x30,
    PL011_IMSC = 0x38,
    PL011_ICR = 0x44,
};

enum { FR_BUSY = 1 << 3, FR_RX_EMPTY = 1 << 4, FR_TX_FULL = 1 << 5 };
enum { LCR_FIFO = 1 << 4, LCR_8_BITS = 3 << 5 };
enum { CR_ENABLE = 1 << 0, CR_TX = 1 << 8, CR_RX = 1 << 9 };
enum { DR_ERRORS = 7 << 8 }; /* framing, parity, break; an overrun leaves this byte good */

static volatile uint32_t *reg(const struct pl011 *uart, unsigned offset)
{
    return (volatile uint32_t *)(uart->base + offset);
}

void pl011_init(struct pl011 *uart, uintptr_t base, uint32_t clock_hz, uint32_t baud)
{
    uart->base = base;
    if (base == 0)
        return;
    pl011_drain(uart); /* the firmware's last words */
    *reg(uart, PL011_CR) = 0;
    *reg(uart, PL011_IMSC) = 0;
    *reg(uart, PL011_ICR) = 0x7ff;
    if (clock_hz != 0 && baud != 0) {
        /* clock / (16 baud) with 6 fractional bits, rounded (section 3.3.6). */
        uint32_t divisor = (uint32_t)(((uint64_t)clock_hz * 8 / baud + 1) / 2);

        *reg(uart, PL011_IBRD) = divisor >> 6;
        *reg(uart, PL011_FBRD) = divisor & 63;
    }
    *reg(uart, PL011_LCR_H) = LCR_FIFO | LCR_8_BITS; /* latches the divisor, so after it */
    *reg(uart, PL011_CR) = CR_ENABLE | CR_TX | CR_RX;
}

void pl011_putc(struct pl011 *uart, char c)
{
    if (uart->base == 0)
        return;
    while (*reg(uart, PL011_FR) & FR_TX_FULL)
        continue;
    *reg(uart, PL011_DR) = (uint8_t)c;
}

int pl011_getc(struct pl011 *uart)
{
    uint32_t data;

    if (uart->base == 0 || (*reg(uart, PL011_FR) & FR_RX_EMPTY))
        return -1;
    data = *reg(uart, PL011_DR);
    return data & DR_ERRORS ? -1 : (int)(data & 0xff);
}

void pl011_drain(struct pl011 *uart)
{
    while (uart->base != 0 && (*reg(uart, PL011_FR) & FR_BUSY))
        continue;
}
