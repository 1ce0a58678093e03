/* The console's line over a PL011 whose registers do what DDI 0183 says: input arrives in order
 * whatever happens to its interrupt, and every wait ends. */
#include "board/drivers/serial/serial.c"

#include "board/drivers/serial/pl011.h"
#include "tests/unit/board/fakes/fake_irq.h"
#include "tests/unit/tap.h"

enum {
    DR = 0x00,
    FR = 0x18,
    LCR_H = 0x2c,
    IMSC = 0x38,
    RIS = 0x3c,
    ICR = 0x44,
    RECEIVED = 0x50,
    FIFO = 16,
    N_BYTES = 64
};

static struct fake_pl011 {
    char fifo[N_BYTES]; /* to be read */
    unsigned n, at;
    const char *later; /* bytes that arrive one at a time, each after the last was read */
    char
        between; /* comes just before the FIFOs go on, which in QEMU leaves it at DR alone, its interrupt set */
    bool is_between;
    uint32_t mask, sent;
    bool busy, dead; /* the transmitter never ends; without a clock it reads as 0 */
} f;

static struct pl011 uart;

static void arrive(const char *text)
{
    for (; *text != '\0' && f.n < N_BYTES; text++)
        f.fifo[f.n++] = *text;
}

static uint32_t take(bool look)
{
    uint32_t byte = f.at < f.n ? (uint8_t)f.fifo[f.at] : (uint8_t)f.between;

    f.is_between = f.is_between && look;
    if (!look && f.at < f.n) {
        f.at++;
        if (f.later != NULL && *f.later != '\0') {
            f.fifo[f.n++] = *f.later;
            f.later++;
        }
    }
    return byte;
}

static uint32_t read_pl011(unsigned offset, bool look)
{
    if (f.dead)
        return 0;
    if (offset == DR)
        return take(look);
    if (offset == FR)
        return (f.busy ? 1u << 3 : 0) | (f.at == f.n ? 1u << 4 : 0);
    if (offset == RIS)
        return f.is_between ? 1u << 4 : 0;
    return offset == IMSC ? f.mask : 0;
}

static void write_pl011(unsigned offset, uint32_t value)
{
    if (offset == IMSC)
        f.mask = value;
    if (offset == DR)
        f.sent++;
    if (offset == LCR_H)
        f.is_between = f.between != '\0';
}

static bool asserted(void)
{
    return (f.mask & RECEIVED) != 0 && f.at < f.n;
}

static void begin_between(const char *before, char between)
{
    static uintptr_t base;

    if (base == 0)
        base = mmio_add(read_pl011, write_pl011, 0x1000);
    memset(&f, 0, sizeof f);
    arrive(before);
    f.between = between;
    fake_irq_begin(asserted);
    serial_line = (struct serial_line){ .receiving = ATOMIC_FLAG_INIT,
                                        .ring = RECEIVE_RING(first_buffer) };
    uart = (struct pl011){ 0 };
    pl011_init(&uart, base, 0, 0);
    serial_open(&pl011_serial, &uart);
}

static void begin(void)
{
    begin_between("", '\0');
}

static bool reads(const char *text)
{
    int byte;

    for (; *text != '\0'; text++) {
        byte = serial_getc();
        if (byte != *text) {
            printf("# '%c' was wanted, %d came\n", *text, byte);
            return false;
        }
    }
    return serial_getc() == SERIAL_NOTHING;
}

static void type_while_asleep(void)
{
    if (core.naps == 3)
        arrive("z");
}

static void test_wrong_line(void)
{
    begin();
    OK(serial_listen(WRONG_LINE) == ERR_OK,
       "the UART listens on a line that belongs to another device");
    arrive("hello");
    OK(reads("hello"), "typed bytes arrive all the same");
    core.asleep = type_while_asleep;
    serial_idle();
    OK(core.naps == 3 && reads("z"), "a typed byte ends a sleep");
    arrive("a\x03");
    OK(serial_getc() == 'a' && serial_interrupted(), "a Ctrl-C is seen, too");
    arrive("bc");
    OK(serial_getc() == 'b', "somebody takes one byte and no more");
    arrive("\x03");
    OK(serial_interrupted(), "the reader is told of a later Ctrl-C");
}

static void test_right_line(void)
{
    begin();
    OK(serial_listen(UART_LINE) == ERR_OK && core.taken == 0, "the right line is taken");
    arrive("hi");
    core_settle();
    OK(core.taken == 1 && serial_line.proven, "the interrupt of the line brings the bytes");
    OK(reads("hi"), "the bytes arrive in order");
    core.asleep = type_while_asleep;
    core.naps = 2;
    serial_idle();
    OK(core.naps == 3 && reads("z"), "an interrupt ends a sleep");
}

/* Each byte that is read makes room for the next one, so that the interrupt is always about to come. */
static void test_order(void)
{
    begin();
    (void)serial_listen(UART_LINE);
    core.masked = true;
    arrive("0");
    core.masked = false;
    f.later = "123456789abcdefghijkl";
    OK(reads("0123456789abcdefghijkl"), "a poll and the handler do not change the order");
    OK(core.taken == 0, "the handler does not come into a poll");
}

static void test_no_timer(void)
{
    begin();
    core.timer_reaches = false;
    OK(serial_listen(WRONG_LINE) == ERR_OK && !serial_line.naps,
       "no core sleeps if no timer ends the sleep");
    arrive("q");
    serial_idle();
    OK(core.naps == 0 && reads("q"), "there is no sleep before the interrupt has brought a byte");
    serial_line.proven = true;
    OK(!receive_on_interrupt(NULL) && !serial_line.proven,
       "there is no sleep after an interrupt without a byte");
}

/* A core that polls a clock between naps returns to it, and no byte is late. */
static void test_nap(void)
{
    begin();
    serial_nap();
    OK(core.naps == 0, "no nap begins before a byte has come by the interrupt");
    (void)serial_listen(UART_LINE);
    arrive("a");
    core_settle();
    serial_nap();
    OK(core.naps == 0 && reads("a"), "no nap begins while a byte waits");
    serial_nap();
    OK(core.naps == 1, "one nap begins when nothing waits, and the timer ends it");
    serial_line.naps = false;
    serial_nap();
    OK(core.naps == 1, "no nap begins without a timer");
}

static void test_bounds(void)
{
    uint64_t start;

    begin();
    f.busy = true;
    start = core.now;
    serial_drain();
    OK(core.now - start <= CORE_HZ, "a transmitter that stays busy is given up within a second");
    f.busy = false;
    (void)serial_listen(UART_LINE);
    f.dead = true;
    OK(serial_receive() && receive_ring_held(&serial_line.ring) == MOST_TAKEN,
       "a UART that always has a byte is left after a FIFO's worth");
}

static void test_early(void)
{
    begin_between("sav", 'e');
    arrive("!");
    OK(reads("save!"), "a byte that comes while the FIFOs go on is not lost");
    begin_between("sav", '\0');
    OK(reads("sav"), "no byte is made up if none came between");
}

/* A Pi 5's second line, which is polled: output goes to both, input comes from either, and a dead
 * line does not hold the other up. */
static struct {
    char sent[N_BYTES], typed[N_BYTES];
    unsigned n_sent, at;
    bool stuck;
} other;

static bool other_send(void *context, uint8_t byte)
{
    (void)context;
    if (other.stuck)
        return false;
    other.sent[other.n_sent++ % N_BYTES] = (char)byte;
    return true;
}

static int other_receive(void *context)
{
    (void)context;
    return other.typed[other.at] != '\0' ? other.typed[other.at++] : SERIAL_NOTHING;
}

static void other_drain(void *context)
{
    (void)context;
}

static void test_second(void)
{
    static const struct serial_uart second = { .receive = other_receive,
                                               .send = other_send,
                                               .drain = other_drain };
    static const char text[] = "both";

    begin();
    memset(&other, 0, sizeof other);
    serial_also(&second, &other);
    for (const char *c = text; *c != '\0'; c++)
        serial_putc(*c);
    OK(f.sent == 4 && memcmp(other.sent, text, 4) == 0, "output goes to both lines");
    strcpy(other.typed, "ab");
    OK(reads("ab"), "input comes from the second line");
    arrive("cd");
    OK(reads("cd"), "the first line's bytes are read, too");
    other.stuck = true;
    serial_putc('x');
    serial_putc('y');
    OK(f.sent == 6 && serial_line.second == NULL, "a second line that has died is left out");
}

int main(void)
{
    test_early();
    test_wrong_line();
    test_right_line();
    test_order();
    test_no_timer();
    test_nap();
    test_bounds();
    test_second();
    return tap_done();
}
