#include "board/drivers/serial/pl011.h"

#include "board/board.h"
#include "board/min_max.h"

/* Section 3.2, byte offsets. */
enum {
    PL011_DR = 0x00,
    PL011_ECR = 0x04,
    PL011_FR = 0x18,
    PL011_IBRD = 0x24,
    PL011_FBRD = 0x28,
    PL011_LCR_H = 0x2c,
    PL011_CR = 0x30,
    PL011_IFLS = 0x34,
    PL011_IMSC = 0x38,
    PL011_RIS = 0x3c,
    PL011_ICR = 0x44,
};

enum { FR_BUSY = 1 << 3, FR_RX_EMPTY = 1 << 4, FR_TX_FULL = 1 << 5 };
enum { LCR_FIFO = 1 << 4, LCR_8_BITS = 3 << 5 };
enum { CR_ENABLE = 1 << 0, CR_TX = 1 << 8, CR_RX = 1 << 9 };
enum { DR_FRAMING_PARITY = 3 << 8, DR_BREAK = 1 << 10, DR_OVERRUN = 1 << 11 };
enum { DRAINS_HZ = 2 };
enum { IFLS_RX_QUARTER = 1 << 3, INT_RX = 1 << 4, INT_RX_TIMEOUT = 1 << 6 };

static volatile uint32_t *reg(const struct pl011 *uart, unsigned offset)
{
    return (volatile uint32_t *)(uart->base + offset);
}

/* Interrupt when a quarter of the FIFO is full, 80 us before it overflows at 3 Mbaud, or after a
 * pause of 32 bits (3.3.9, 3.3.10). */
static void enable_interrupts(const struct pl011 *uart)
{
    *reg(uart, PL011_IFLS) = IFLS_RX_QUARTER;
    *reg(uart, PL011_IMSC) = INT_RX | INT_RX_TIMEOUT;
}

/* Wait for the last byte, within a limit. A FIFO of 32 bytes takes 34 ms at 9600 baud, but a UART
 * that firmware has stopped (CR), or that has no clock, is busy for ever (section 3.3.3, BUSY:
 * "regardless of whether the UART is enabled"). */
static void pl011_drain(void *context)
{
    const struct pl011 *uart = context;
    uint64_t start = board.ticks();

    while (uart->base != 0 && (*reg(uart, PL011_FR) & FR_BUSY) &&
           board.ticks() - start < board.ticks_hz() / DRAINS_HZ)
        continue;
}

void pl011_init(struct pl011 *uart, uintptr_t base, uint32_t clock_hz, uint32_t baud)
{
    uart->base = base;
    if (base == 0)
        return;
    pl011_drain(uart); /* let the firmware's last bytes leave */
    *reg(uart, PL011_CR) = 0;
    *reg(uart, PL011_IMSC) = 0;
    *reg(uart, PL011_ICR) = 0x7ff;
    if (clock_hz != 0 && baud != 0) {
        /* clock / (16 baud) with 6 fractional bits, rounded (section 3.3.6). */
        uint32_t divisor = (uint32_t)(((uint64_t)clock_hz * 8 / baud + 1) / 2);

        *reg(uart, PL011_IBRD) = divisor >> 6;
        *reg(uart, PL011_FBRD) = divisor & 63;
    }
    serial_keep(&pl011_serial, uart); /* QEMU forgets bytes that came before the FIFOs were on */
    *reg(uart, PL011_LCR_H) = LCR_FIFO | LCR_8_BITS; /* written after the divisor, which
                                                        this write latches */
    *reg(uart, PL011_CR) = CR_ENABLE | CR_TX | CR_RX;
    /* A byte that QEMU received meanwhile is not in the FIFO any more, but DR still has it, and its
     * interrupt is set. Reading DR clears the interrupt and lets QEMU continue with the input. On
     * hardware, DR gives a byte of the FIFO. */
    if (*reg(uart, PL011_RIS) & INT_RX)
        serial_keep_byte((uint8_t)*reg(uart, PL011_DR));
    if (uart->listens)
        enable_interrupts(uart);
}

void pl011_init_left(struct pl011 *uart, uintptr_t base, uint32_t clock_hz, uint32_t baud)
{
    struct pl011 left = { .base = base };
    bool is_set = base != 0 && *reg(&left, PL011_IBRD) != 0;

    pl011_init(uart, base, is_set ? 0 : clock_hz, baud);
}

/* True if the UART is on; all ones mean that nothing answers there. */
bool pl011_is_on(uintptr_t base)
{
    const struct pl011 left = { .base = base };
    uint32_t control = *reg(&left, PL011_CR);

    return control != UINT32_MAX && (control & CR_ENABLE);
}

static bool pl011_send(void *context, uint8_t byte)
{
    struct pl011 *uart = context;

    if (uart->base == 0)
        return true;
    if (*reg(uart, PL011_FR) & FR_TX_FULL)
        return false;
    *reg(uart, PL011_DR) = byte;
    return true;
}

/* Receive a byte. An overrun does not damage this byte; the byte after the FIFO's last one is
 * lost. */
static int pl011_receive(void *context)
{
    struct pl011 *uart = context;
    uint32_t data;

    if (uart->base == 0 || (*reg(uart, PL011_FR) & FR_RX_EMPTY))
        return SERIAL_NOTHING;
    data = *reg(uart, PL011_DR);
    if (data & DR_OVERRUN)
        *reg(uart, PL011_ECR) = 0; /* else the next bytes report the overrun again (3.3.2) */
    return (int)((data & 0xff) | bits_if(data & DR_FRAMING_PARITY, SERIAL_DAMAGED) |
                 bits_if(data & DR_OVERRUN, SERIAL_OVERRUN) |
                 bits_if(data & DR_BREAK, SERIAL_BREAK));
}

static void pl011_listen(void *context)
{
    struct pl011 *uart = context;

    uart->listens = true;
    enable_interrupts(uart);
}

const struct serial_uart pl011_serial = {
    .receive = pl011_receive,
    .send = pl011_send,
    .listen = pl011_listen,
    .drain = pl011_drain,
};
