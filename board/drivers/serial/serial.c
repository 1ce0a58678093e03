#include "board/drivers/serial/serial.h"

#include <stdatomic.h>
#include <stddef.h>

#include "board/board.h"
#include "board/drivers/serial/receive_ring.h"
#include "board/interrupt.h"
#include "board/isa.h"

enum { XON = 0x11, XOFF = 0x13 };
enum { MOST_JOINED = 4 };
enum { MOST_TAKEN = 256 }; /* most bytes at a time: more than any FIFO holds */

/* Sleeps end this many times a second to look for input. Until the interrupt has brought a byte,
 * sleeps are short enough for a FIFO of 16 bytes at 115200 baud. */
enum { NAPS_HZ_UNPROVEN = 1000, NAPS_HZ = 50, NAPS_HZ_JOINED = 125 };

/* board.idle looks this many times a second at other ports, if there are any. */
enum { LOOKS_HZ = 4 };

enum {
    SECOND_HZ = 10
}; /* limit for a byte of the second line: 100 ms; a FIFO of 32 bytes takes 34 ms at 9600 baud */

/* Used until the application provides a larger buffer; holds 0.3 s at 115200 baud, more than the
 * start takes. */
static uint8_t first_buffer[4096];

static struct serial_line {
    const struct serial_uart *driver; /* NULL: no line, output is dropped */
    void *uart;
    const struct serial_uart *second; /* NULL: there is none */
    void *second_uart;
    bool listens;       /* received by an interrupt */
    bool naps;          /* a timer ends sleeps */
    atomic_bool proven; /* the last interrupt has brought a byte */
    atomic_flag receiving;
    atomic_bool flow_control;
    atomic_bool held;        /* the peer has sent XOFF */
    atomic_bool peer_paused; /* we have sent XOFF; written only with interrupts masked */
    _Atomic uint32_t lost;   /* since the last serial_lost() */
    struct receive_ring ring;
    struct {
        int (*take)(void *context);
        void *context;
    } joined[MOST_JOINED]; /* keyboards */
    unsigned n_joined;
} serial_line = { .receiving = ATOMIC_FLAG_INIT, .ring = RECEIVE_RING(first_buffer) };

void serial_open(const struct serial_uart *driver, void *uart)
{
    serial_line.uart = uart;
    serial_line.driver = driver;
}

void serial_also(const struct serial_uart *driver, void *uart)
{
    serial_line.second_uart = uart;
    serial_line.second = driver;
}

/* Receive bytes on an interrupt. After an interrupt without a cause, sleeps no longer rely on
 * interrupts, because irq_deliver may disable the line. */
static bool receive_on_interrupt(void *context)
{
    bool came = serial_receive();

    (void)context;
    atomic_store(&serial_line.proven, came);
    return came;
}

enum err serial_listen(uint32_t interrupt)
{
    enum err e;

    if (!serial_line.naps)
        serial_line.naps = irq_take_timer() == ERR_OK;
    /* The handler must be in place before the UART may interrupt. */
    e = irq_take(interrupt, receive_on_interrupt, NULL);
    if (e != ERR_OK)
        return e;
    serial_line.driver->listen(serial_line.uart);
    serial_line.listens = true;
    return ERR_OK;
}

/* Call with interrupts masked, because the handler is the other side of the ring. */
enum err serial_set_input_buffer(uint8_t *memory, size_t bytes)
{
    bool on = core_interrupts_mask();
    enum err e = receive_ring_move(&serial_line.ring, memory, bytes);

    core_interrupts_restore(on);
    return e;
}

/* Take a received byte. Ctrl-C also releases held output, because otherwise its effect could not be
 * seen. */
static void take_byte(int received)
{
    uint8_t byte = (uint8_t)received;

    /* An overrun comes with a good byte; the lost bytes came before it. */
    if (received & SERIAL_OVERRUN)
        atomic_fetch_add(&serial_line.lost, 1);
    /* A break is not a byte; a byte with a parity or framing error is worse than none. */
    if (received & SERIAL_BREAK)
        return;
    if (received & SERIAL_DAMAGED) {
        atomic_fetch_add(&serial_line.lost, 1);
        return;
    }
    if (atomic_load(&serial_line.flow_control)) {
        if (byte == XON || byte == XOFF) {
            atomic_store(&serial_line.held, byte == XOFF);
            return;
        }
        if (byte == RECEIVE_RING_CTRL_C)
            atomic_store(&serial_line.held, false);
    }
    if (!receive_ring_put(&serial_line.ring, byte) && byte != RECEIVE_RING_CTRL_C)
        atomic_fetch_add(&serial_line.lost, 1);
}

/* Returns false if the first line's transmitter is full. */
static bool send_to_both(uint8_t byte)
{
    if (!serial_line.driver->send(serial_line.uart, byte))
        return false;
    if (serial_line.second != NULL)
        (void)serial_line.second->send(serial_line.second_uart, byte);
    return true;
}

/* The peer is told to pause at three quarters of the ring, and to continue at one quarter. The last
 * quarter has room for what the peer still sends after XOFF; a USB adapter sends the few KiB that
 * are in its buffers. Called with interrupts masked. A full transmitter is tried again at the next
 * byte. */
static void pause_or_resume(void)
{
    uint32_t held = receive_ring_held(&serial_line.ring), quarter = serial_line.ring.size / 4;

    if (!atomic_load(&serial_line.flow_control))
        return;
    if (!serial_line.peer_paused && held >= 3 * quarter)
        serial_line.peer_paused = send_to_both(XOFF);
    else if (serial_line.peer_paused && held <= quarter)
        serial_line.peer_paused = !send_to_both(XON);
}

void serial_keep(const struct serial_uart *driver, void *uart)
{
    for (int i = 0; i < MOST_TAKEN; i++) {
        int received = driver->receive(uart);

        if (received == SERIAL_NOTHING)
            return;
        if (received <= UINT8_MAX)
            take_byte(received);
    }
}

void serial_keep_byte(uint8_t byte)
{
    take_byte(byte);
}

/* Receive on one core at a time, because the ring has one producer. If another core is receiving,
 * this core leaves the bytes to it: core 0's handler may run while core 1 reports a trap. The loop
 * is bounded: a UART without a clock may always claim to have a byte. */
static int receive_from(const struct serial_uart *driver, void *uart)
{
    int received, n = 0;

    while (n < MOST_TAKEN && (received = driver->receive(uart)) != SERIAL_NOTHING) {
        take_byte(received);
        n++;
    }
    return n;
}

bool serial_receive(void)
{
    int n;

    /* Another core is receiving and takes the bytes. */
    if (atomic_flag_test_and_set(&serial_line.receiving))
        return false;
    n = receive_from(serial_line.driver, serial_line.uart);
    if (serial_line.second != NULL)
        n += receive_from(serial_line.second, serial_line.second_uart);
    pause_or_resume();
    atomic_flag_clear(&serial_line.receiving);
    return n != 0;
}

/* Poll, even with an interrupt: the tree may name a wrong line, or firmware may keep it. Interrupts
 * are masked, because the handler takes bytes too: if it ran while a byte is between FIFO and ring,
 * later bytes would overtake it. */
static void poll(void)
{
    bool on = core_interrupts_mask();

    (void)serial_receive();
    core_interrupts_restore(on);
}

void serial_join(int (*take)(void *context), void *context)
{
    for (unsigned i = 0; i < serial_line.n_joined; i++)
        if (serial_line.joined[i].context == context)
            return;
    if (serial_line.n_joined == MOST_JOINED)
        return;
    serial_line.joined[serial_line.n_joined].take = take;
    serial_line.joined[serial_line.n_joined++].context = context;
}

static int take_joined(void)
{
    int byte = -1;

    for (unsigned i = 0; i < serial_line.n_joined && byte < 0; i++)
        byte = serial_line.joined[i].take(serial_line.joined[i].context);
    return byte;
}

/* Take keys, for which XON and XOFF have no meaning. */
static void take_keys(void)
{
    int byte;

    while ((byte = take_joined()) >= 0) {
        bool on = core_interrupts_mask();

        /* The other producer holds the ring only while it takes a FIFO's bytes. */
        while (atomic_flag_test_and_set(&serial_line.receiving))
            ;
        (void)receive_ring_put(&serial_line.ring, (uint8_t)byte);
        atomic_flag_clear(&serial_line.receiving);
        core_interrupts_restore(on);
    }
}

/* True if the interrupt reports all input; a second line has no interrupt. */
static bool is_proven(void)
{
    return atomic_load(&serial_line.proven) && serial_line.second == NULL;
}

/* Sleep for a limited time, or not at all if nothing is known to end the sleep. Call with
 * interrupts masked. */
static void sleep_a_while(void)
{
    bool proven = is_proven();

    if (serial_line.naps) {
        uint32_t hz = serial_line.n_joined != 0 ? NAPS_HZ_JOINED : NAPS_HZ;

        /* The timer is set before the sleep, so that a lost interrupt costs only one period. */
        core_timer_start(board.ticks_hz() / (proven ? hz : NAPS_HZ_UNPROVEN));
        core_idle();
        core_timer_stop();
    } else if (proven && serial_line.n_joined == 0) {
        core_idle();
    }
}

/* Send a byte on the second line, which has the first line's rate. If that line cannot send (no
 * clock, or no link to it), the line is left out. */
static void put_second(uint8_t byte)
{
    uint64_t start = board.ticks();

    while (serial_line.second != NULL && !serial_line.second->send(serial_line.second_uart, byte))
        if (board.ticks() - start > board.ticks_hz() / SECOND_HZ)
            serial_line.second = NULL;
}

/* The handler must not send XOFF between the check for room and the write. */
void serial_putc(char c)
{
    bool on, sent = serial_line.driver == NULL;

    while (!sent) {
        on = core_interrupts_mask();
        /* The peer may have paused us between two tries. */
        if (!atomic_load(&serial_line.held))
            sent = serial_line.driver->send(serial_line.uart, (uint8_t)c);
        else if (on && board.alive == NULL)
            sleep_a_while();
        core_interrupts_restore(on);
        /* Input continues while output waits, because XON is input. */
        if (!sent)
            poll();
        if (!sent && board.alive != NULL)
            board.alive(); /* a peer that pauses us must not trigger the watchdog */
    }
    put_second((uint8_t)c);
}

void serial_drain(void)
{
    if (serial_line.driver != NULL)
        serial_line.driver->drain(serial_line.uart);
    if (serial_line.second != NULL)
        serial_line.second->drain(serial_line.second_uart);
}

int serial_getc(void)
{
    int byte;
    bool on;

    if (serial_line.driver != NULL)
        poll();
    take_keys();
    byte = receive_ring_take(&serial_line.ring);
    /* A byte has left the ring: there may be room for the peer again. */
    if (serial_line.peer_paused) {
        on = core_interrupts_mask();
        pause_or_resume();
        core_interrupts_restore(on);
    }
    return byte;
}

bool serial_has_input(void)
{
    if (serial_line.driver != NULL)
        poll();
    take_keys();
    return receive_ring_held(&serial_line.ring) != 0;
}

/* Interrupts are masked, so that a byte that arrives after the check ends the sleep. */
static bool sleep_without_input(void)
{
    bool on = core_interrupts_mask(),
         none = receive_ring_held(&serial_line.ring) == 0 && !serial_line.peer_paused;

    if (none)
        sleep_a_while();
    core_interrupts_restore(on);
    return none;
}

void serial_idle(void)
{
    uint64_t start = board.ticks(), most = board.ticks_hz() / LOOKS_HZ;

    while (serial_line.driver != NULL && sleep_without_input()) {
        poll();
        take_keys();
        /* Return, so that the caller can look at drives and at the network. */
        if (serial_line.n_joined != 0 && board.ticks() - start > most)
            return;
    }
}

/* Sleep only if interrupt and timer work: without the interrupt, a FIFO could fill up before the
 * timer ends the sleep; without the timer, nothing else would end it. */
void serial_nap(void)
{
    if (serial_line.driver != NULL && serial_line.naps && is_proven())
        (void)sleep_without_input();
}

/* Masking interrupts here loses no more input than a computation, during which the line is polled
 * even less often. */
void serial_rest(uint32_t micros)
{
    bool on;

    if (!serial_line.naps)
        return;
    on = core_interrupts_mask();
    core_timer_start(board.ticks_hz() * micros / 1000000);
    core_idle();
    core_timer_stop();
    core_interrupts_restore(on);
}

/* If bytes wait, the caller has no room for them and does not call serial_getc, so poll here. */
bool serial_interrupted(void)
{
    if (receive_ring_held(&serial_line.ring) != 0)
        poll();
    take_keys();
    return receive_ring_take_ctrl_c(&serial_line.ring);
}

uint32_t serial_lost(void)
{
    return atomic_exchange(&serial_line.lost, 0);
}

void serial_flow_control(bool on)
{
    atomic_store(&serial_line.flow_control, on);
    if (!on)
        atomic_store(&serial_line.held, false);
}
