#include "board/drivers/serial/sifive_uart.h"

#include "board/board.h"

/* Registers and bits have the names of the manual. */
enum {
    REG_TXDATA = 0x00, /* bit 31: full */
    REG_RXDATA = 0x04, /* a read takes a byte; bit 31 is set if the FIFO is empty */
    REG_TXCTRL = 0x08,
    REG_RXCTRL = 0x0c,
    REG_IE = 0x10,
    REG_IP = 0x14,
    REG_DIV = 0x18,
    CTRL_ENABLE = 1 << 0,
    CTRL_MARK_SHIFT = 16, /* IP_TRANSMIT is set while the FIFO has fewer bytes than this mark */
    IP_TRANSMIT = 1 << 0,
    IP_RECEIVE = 1 << 1, /* the FIFO has more bytes than the mark */
    DIV_MAX = 0xffff,
    DRAIN_POLLS = 1000000,
    SHIFTED_IN_HZ = 100, /* 10 ms: 8 bytes at 9600 baud */
};
#define DATA_STATE (1u << 31)

static uint32_t read_register(const struct sifive_uart *uart, unsigned offset)
{
    return *(volatile uint32_t *)(uart->base + offset);
}

static void write_register(const struct sifive_uart *uart, unsigned offset, uint32_t value)
{
    *(volatile uint32_t *)(uart->base + offset) = value;
}

void sifive_uart_init(struct sifive_uart *uart, uintptr_t base)
{
    uart->base = base;
    if (base == 0)
        return;
    write_register(uart, REG_IE, 0);
    write_register(uart, REG_TXCTRL, CTRL_ENABLE | 1 << CTRL_MARK_SHIFT);
    write_register(uart, REG_RXCTRL, CTRL_ENABLE);
}

/* Wait until the transmit FIFO is empty, within a limit. No register shows whether the shifter
 * still has the last byte. In QEMU the FIFO always seems empty, although another thread empties it
 * later. */
static void sifive_uart_drain(void *context)
{
    const struct sifive_uart *uart = context;
    uint64_t start;

    if (uart->base == 0)
        return;
    for (int i = 0; i < DRAIN_POLLS; i++)
        if ((read_register(uart, REG_IP) & IP_TRANSMIT) != 0)
            break;
    start = board.ticks();
    while (board.ticks() - start < board.ticks_hz() / SHIFTED_IN_HZ) {
    }
}

/* The rate is f / (div + 1), with div rounded to the nearest. */
void sifive_uart_set_baud(struct sifive_uart *uart, uint64_t clock_hz, uint32_t baud)
{
    uint64_t divisor = (clock_hz + baud / 2) / baud;

    if (uart->base == 0 || divisor == 0 || divisor - 1 > DIV_MAX)
        return;
    sifive_uart_drain(uart);
    write_register(uart, REG_DIV, (uint32_t)(divisor - 1));
}

static bool sifive_uart_send(void *context, uint8_t byte)
{
    const struct sifive_uart *uart = context;

    if (uart->base == 0)
        return true;
    if ((read_register(uart, REG_TXDATA) & DATA_STATE) != 0)
        return false;
    write_register(uart, REG_TXDATA, byte);
    return true;
}

/* Receive a byte. The UART reports no errors, neither of the line nor of its FIFO of 8 bytes. */
static int sifive_uart_receive(void *context)
{
    const struct sifive_uart *uart = context;
    uint32_t data;

    if (uart->base == 0)
        return SERIAL_NOTHING;
    data = read_register(uart, REG_RXDATA);
    if ((data & DATA_STATE) != 0)
        return SERIAL_NOTHING;
    return (int)(data & 0xff);
}

/* The UART has no time-out, so the mark in rxctrl is 0, and every byte interrupts. */
static void sifive_uart_listen(void *context)
{
    const struct sifive_uart *uart = context;

    write_register(uart, REG_IE, IP_RECEIVE);
}

const struct serial_uart sifive_uart_serial = {
    .receive = sifive_uart_receive,
    .send = sifive_uart_send,
    .listen = sifive_uart_listen,
    .drain = sifive_uart_drain,
};
