#include "board/drivers/ns16550.h"

/* Registers and bits: table II of the data sheet. */
enum {
    REG_DATA = 0,
    REG_INTERRUPTS = 1,
    REG_FIFO = 2,
    REG_LINE_STATUS = 5,
    INTERRUPT_RECEIVED = 1 << 0, /* at the trigger level, or after a pause of 4 bytes */
    FIFO_ON = 1 << 0,
    FIFO_TRIGGER_8 = 2 << 6,
    STATUS_RECEIVED = 1 << 0,
    STATUS_OVERRUN = 1 << 1,
    STATUS_PARITY_FRAMING = 3 << 2,
    STATUS_BREAK = 1 << 4,
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

/* Reading the status forgets an overrun, and it is read to send, too: kept until a byte takes it
 * along. */
static uint32_t read_status(struct ns16550 *uart)
{
    uint32_t status = read_register(uart, REG_LINE_STATUS);

    uart->overrun = uart->overrun || (status & STATUS_OVERRUN) != 0;
    return status | (uart->overrun ? STATUS_OVERRUN : 0);
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

static bool ns16550_send(void *context, uint8_t byte)
{
    struct ns16550 *uart = context;

    if (uart->base == 0)
        return true;
    if ((read_status(uart) & STATUS_TRANSMIT_READY) == 0)
        return false;
    write_register(uart, REG_DATA, byte);
    return true;
}

static int ns16550_receive(void *context)
{
    struct ns16550 *uart = context;
    uint32_t status;

    if (uart->base == 0 || ((status = read_status(uart)) & STATUS_RECEIVED) == 0)
        return SERIAL_NOTHING;
    uart->overrun = false;
    return (int)(read_register(uart, REG_DATA) & 0xff) |
           (status & STATUS_PARITY_FRAMING ? SERIAL_DAMAGED : 0) |
           (status & STATUS_OVERRUN ? SERIAL_OVERRUN : 0) |
           (status & STATUS_BREAK ? SERIAL_BREAK : 0);
}

static void ns16550_listen(void *context)
{
    struct ns16550 *uart = context;

    write_register(uart, REG_FIFO, FIFO_ON | FIFO_TRIGGER_8);
    write_register(uart, REG_INTERRUPTS, INTERRUPT_RECEIVED);
}

const struct serial_uart ns16550_serial = {
    .receive = ns16550_receive,
    .send = ns16550_send,
    .listen = ns16550_listen,
};

void ns16550_drain(struct ns16550 *uart)
{
    for (int i = 0; uart->base != 0 && i < DRAIN_POLLS; i++)
        if ((read_status(uart) & STATUS_TRANSMIT_IDLE) != 0)
            return;
}
