#include "board/drivers/serial/ns16550.h"

#include "board/facts.h"
#include "board/isa.h"
#include "board/min_max.h"

/* Registers and bits are those of table II of the data sheet. */
enum {
    REG_DATA = 0,
    REG_INTERRUPTS = 1,
    REG_FIFO = 2,     /* written */
    REG_IDENTITY = 2, /* read */
    REG_LINE_CONTROL = 3,
    REG_LINE_STATUS = 5,
    REG_DIVISOR_LOW = 0, /* this and the next exist only while LINE_DIVISOR is set */
    REG_DIVISOR_HIGH = 1,
    REG_DW_STATUS = 31, /* only on Synopsys's UART; reading it ends its busy interrupt */
    LINE_8N1 = 3,
    LINE_DIVISOR = 1 << 7,
    LINE_TRIES = 1000,
    INTERRUPT_RECEIVED = 1 << 0, /* interrupt at the trigger level, or after a pause of 4 bytes */
    IDENTITY_MASK = 0x3f,
    IDENTITY_TIMEOUT = 0x0c,
    IDENTITY_BUSY = 0x07, /* Synopsys's busy interrupt, which cannot be masked */
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

/* Read the status, which clears an overrun. Sending reads the status too, so the overrun is kept
 * until the next byte reports it. */
static uint32_t read_status(struct ns16550 *uart)
{
    uint32_t status = read_register(uart, REG_LINE_STATUS);

    uart->overrun = uart->overrun || (status & STATUS_OVERRUN) != 0;
    return status | bits_if(uart->overrun, STATUS_OVERRUN);
}

void ns16550_init(struct ns16550 *uart, uintptr_t base, unsigned reg_shift, unsigned reg_io_width)
{
    uart->base = base;
    uart->stride = 1u << reg_shift;
    uart->width = reg_io_width == 4 ? 4 : 1;
    if (base == 0)
        return;
    uart->self = uart;
    facts_add(ns16550_facts, &uart->self);
    /* The firmware may have left interrupts on, but nothing can serve them yet. */
    write_register(uart, REG_INTERRUPTS, 0);
    /* Keep bytes that were typed while the firmware ran, because turning FIFOs on clears
     * them. */
    serial_keep(&ns16550_serial, uart);
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

/* End an interrupt that has come without a byte. Synopsys's UART can assert its receiver's time-out
 * without data until the data register is read (Linux, 8250_dw.c, dw8250_handle_irq). This UART
 * also interrupts, until REG_DW_STATUS is read, if the line control was written while the UART was
 * busy. The status is read again, so that a byte that has just arrived is not lost. */
static void end_vain_interrupt(struct ns16550 *uart)
{
    uint32_t identity = read_register(uart, REG_IDENTITY) & IDENTITY_MASK;

    if (identity == IDENTITY_BUSY && uart->stride == 4)
        (void)read_register(uart, REG_DW_STATUS);
    if (identity == IDENTITY_TIMEOUT && (read_status(uart) & STATUS_RECEIVED) == 0)
        (void)read_register(uart, REG_DATA);
}

static int ns16550_receive(void *context)
{
    struct ns16550 *uart = context;
    uint32_t status;

    if (uart->base == 0)
        return SERIAL_NOTHING;
    status = read_status(uart);
    if ((status & STATUS_RECEIVED) == 0) {
        if (uart->listens)
            end_vain_interrupt(uart);
        return SERIAL_NOTHING;
    }
    /* An overrun is reported once, with the first byte after the loss. */
    uart->overrun = false;
    return (int)(read_register(uart, REG_DATA) & 0xff) |
           (int)(bits_if(status & STATUS_PARITY_FRAMING, SERIAL_DAMAGED) |
                 bits_if(status & STATUS_OVERRUN, SERIAL_OVERRUN) |
                 bits_if(status & STATUS_BREAK, SERIAL_BREAK));
}

static void ns16550_listen(void *context)
{
    struct ns16550 *uart = context;

    uart->listens = true;
    write_register(uart, REG_FIFO, FIFO_ON | FIFO_TRIGGER_8);
    write_register(uart, REG_INTERRUPTS, INTERRUPT_RECEIVED);
}

/* Wait for the last byte, within a limit. */
static void ns16550_drain(void *context)
{
    struct ns16550 *uart = context;

    for (int i = 0; uart->base != 0 && i < DRAIN_POLLS; i++)
        if ((read_status(uart) & STATUS_TRANSMIT_IDLE) != 0)
            return;
}

const struct serial_uart ns16550_serial = {
    .receive = ns16550_receive,
    .send = ns16550_send,
    .listen = ns16550_listen,
    .drain = ns16550_drain,
};

/* Write the line control. Synopsys's UART ignores the write while a byte is in progress
 * (DW_apb_uart databook, register LCR), so received bytes are dropped until the write succeeds. */
static bool set_line_control(struct ns16550 *uart, uint8_t value)
{
    for (int i = 0; i < LINE_TRIES; i++) {
        write_register(uart, REG_LINE_CONTROL, value);
        if ((read_register(uart, REG_LINE_CONTROL) & 0xff) == value)
            return true;
        (void)read_register(uart, REG_DATA);
        if (uart->stride == 4)
            (void)read_register(uart, REG_DW_STATUS);
    }
    return false;
}

/* Read the divisor, which shares its address with the data register; no data may be read
 * meanwhile. */
static uint32_t read_divisor(struct ns16550 *uart)
{
    uint32_t line = read_register(uart, REG_LINE_CONTROL) & 0xff, divisor = 0;
    bool on = core_interrupts_mask();

    /* A byte in progress would prevent writing the line control. */
    ns16550_drain(uart);
    write_register(uart, REG_INTERRUPTS, 0);
    if (set_line_control(uart, (uint8_t)(line | LINE_DIVISOR)))
        divisor = (read_register(uart, REG_DIVISOR_LOW) & 0xff) |
                  (read_register(uart, REG_DIVISOR_HIGH) & 0xff) << 8;
    (void)set_line_control(uart, (uint8_t)line);
    if (uart->listens)
        write_register(uart, REG_INTERRUPTS, INTERRUPT_RECEIVED);
    core_interrupts_restore(on);
    return divisor;
}

void ns16550_facts(const void *of, const struct facts *f)
{
    struct ns16550 *uart = *(struct ns16550 *const *)of;

    fact_number(f, "uart", FACT_HEX, uart->base);
    fact_number(f, "uart divisor", FACT_COUNT, read_divisor(uart));
    fact_number(f, "uart line control", FACT_HEX, read_register(uart, REG_LINE_CONTROL) & 0xff);
    fact_number(f, "uart line status", FACT_HEX, read_status(uart) & 0xff);
}

void ns16550_set_baud(struct ns16550 *uart, uint64_t clock_hz, uint32_t baud)
{
    uint64_t divisor = (clock_hz + 8 * (uint64_t)baud) / (16 * (uint64_t)baud);
    bool on;

    if (uart->base == 0 || divisor == 0 || divisor > 0xffff)
        return;
    ns16550_drain(uart);
    /* Mask interrupts: a PLIC keeps a request that the UART has withdrawn, and the handler would
     * read the divisor as data. */
    on = core_interrupts_mask();
    write_register(uart, REG_INTERRUPTS, 0);
    if (set_line_control(uart, LINE_8N1 | LINE_DIVISOR)) {
        write_register(uart, REG_DIVISOR_LOW, (uint8_t)divisor);
        write_register(uart, REG_DIVISOR_HIGH, (uint8_t)(divisor >> 8));
    }
    (void)set_line_control(uart, LINE_8N1);
    if (uart->listens)
        write_register(uart, REG_INTERRUPTS, INTERRUPT_RECEIVED);
    core_interrupts_restore(on);
}
