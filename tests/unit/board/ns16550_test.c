/* Synopsys's 16550 (DW_apb_uart), whose receiver may interrupt without data until its register is
 * read, and which complains about a write while it was busy until its status is read. */
#include "board/drivers/serial/ns16550.h"
#include "board/drivers/serial/serial.c"

#include "tests/unit/board/fakes/fake_irq.h"
#include "tests/unit/tap.h"

enum { DATA = 0, IER = 4, IIR = 8, LCR = 12, LSR = 20, USR = 124, N_BYTES = 64 };

static struct fake_uart {
    char fifo[N_BYTES];
    unsigned n, at;
    uint32_t enabled, line;
    bool ghost;             /* the time-out is asserted */
    bool complains;         /* of a write while it was busy */
    char after_status;      /* arrives once the status has been read; 0: none */
    bool dead;              /* no clock: all ones */
    unsigned reads_of_data; /* without a byte */
    unsigned bare;          /* the divisor was in front of the data, and interrupts came */
} f;

static struct ns16550 uart;

static void arrive(const char *text)
{
    for (; *text != '\0' && f.n < N_BYTES; text++)
        f.fifo[f.n++] = *text;
}

static uint32_t identity(void)
{
    if ((f.enabled & 1) != 0 && (f.ghost || f.at < f.n))
        return 0xcc;
    return f.complains ? 0xc7 : 0xc1;
}

static uint32_t take(void)
{
    f.ghost = false;
    if (f.at < f.n)
        return (uint8_t)f.fifo[f.at++];
    f.reads_of_data++;
    return 0;
}

static uint32_t read_uart(unsigned offset, bool look)
{
    uint32_t status = 0x60 | (f.at < f.n ? 1 : 0);

    if (f.dead)
        return 0xff;
    if (offset == DATA)
        return look ? 0 : take();
    if (offset == IIR)
        return identity();
    if (offset == LCR)
        return f.line;
    if (offset == USR && !look)
        f.complains = false;
    if (offset == LSR && !look && f.after_status != 0) {
        f.fifo[f.n++] = f.after_status;
        f.after_status = 0;
    }
    return offset == LSR ? status : 0;
}

static void write_uart(unsigned offset, uint32_t value)
{
    if (offset == IER)
        f.enabled = value;
    if (offset == LCR)
        f.line = value;
    f.bare += offset == LCR && (value & 0x80) != 0 && !core.masked;
}

static bool asserted(void)
{
    return (identity() & 1) == 0 || f.complains;
}

static void begin(void)
{
    static uintptr_t base;

    if (base == 0)
        base = mmio_add(read_uart, write_uart, 0x1000);
    memset(&f, 0, sizeof f);
    fake_irq_begin(asserted);
    serial_line = (struct serial_line){ .receiving = ATOMIC_FLAG_INIT,
                                        .ring = RECEIVE_RING(first_buffer) };
    uart = (struct ns16550){ 0 };
    ns16550_init(&uart, base, 2, 4);
    serial_open(&ns16550_serial, &uart);
    (void)serial_listen(UART_LINE);
}

static void test_bytes(void)
{
    begin();
    arrive("abc");
    core_settle();
    OK(core.taken == 1 && serial_getc() == 'a' && serial_getc() == 'b' && serial_getc() == 'c' &&
           serial_getc() == SERIAL_NOTHING && f.reads_of_data == 0,
       "bytes come by interrupt, and no register is read for nothing");
}

static void test_ghost(void)
{
    begin();
    f.ghost = true;
    core_settle();
    OK(!core.endless && core.taken == 1 && f.reads_of_data == 1,
       "a time-out without data is ended (%u interrupts)", core.taken);
    OK(serial_getc() == SERIAL_NOTHING && serial_lost() == 0,
       "a time-out without data gives no byte");
    core.masked = true;
    f.ghost = true;
    f.after_status = 'x';
    core.masked = false;
    core_settle();
    OK(!core.endless && serial_getc() == 'x' && f.reads_of_data == 1,
       "a byte that comes meanwhile is not read away");
}

static void test_rate(void)
{
    begin();
    ns16550_set_baud(&uart, 24000000, 115200);
    OK(f.bare == 0 && !core.masked && f.line == 3 && f.enabled == 1,
       "no interrupt is taken while the divisor is in front of the data");
}

static void test_complaint(void)
{
    begin();
    f.complains = true;
    core_settle();
    OK(!core.endless && !f.complains, "firmware's write while it was busy is answered (%u)",
       core.taken);
}

static void test_no_clock(void)
{
    begin();
    f.dead = true;
    OK(serial_receive() && serial_getc() == SERIAL_NOTHING,
       "a UART of all ones is left after a FIFO's worth, and gives no byte");
}

int main(void)
{
    test_bytes();
    test_ghost();
    test_rate();
    test_complaint();
    test_no_clock();
    return tap_done();
}
