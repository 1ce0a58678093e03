#include "board/drivers/serial/serial.h"

#include <stdatomic.h>
#include <stddef.h>

#include "board/board.h"
#include "board/drivers/serial/receive_ring.h"
#include "board/interrupt.h"
#include "board/isa.h"

enum { XON = 0x11, XOFF = 0x13 };
enum { MOST_KEPT = 256 }; /* more than any FIFO has */

/* Until the application gives a larger one: 0.3 s of 115200 baud, longer than it takes to get
 * there. */
static uint8_t first_buffer[4096];

static struct serial_line {
    const struct serial_uart *driver; /* NULL: no line, output is dropped */
    void *uart;
    bool listens;
    atomic_bool flow_control;
    atomic_bool held;        /* the peer has sent XOFF */
    atomic_bool peer_paused; /* we have; written with interrupts masked, looked at without */
    _Atomic uint32_t lost;   /* since serial_lost() asked */
    struct receive_ring ring;
} serial_line = { .ring = RECEIVE_RING(first_buffer) };

void serial_open(const struct serial_uart *driver, void *uart)
{
    serial_line.uart = uart;
    serial_line.driver = driver;
}

static void receive_on_interrupt(void *context)
{
    (void)context;
    serial_receive();
}

enum err serial_listen(uint32_t interrupt)
{
    enum err e = irq_take(interrupt, receive_on_interrupt, NULL);

    if (e != ERR_OK)
        return e;
    serial_line.driver->listen(serial_line.uart);
    serial_line.listens = true;
    return ERR_OK;
}

/* With interrupts masked: the handler is the other side of the ring. */
enum err serial_set_input_buffer(uint8_t *memory, size_t bytes)
{
    bool on = core_interrupts_mask();
    enum err e = receive_ring_move(&serial_line.ring, memory, bytes);

    core_interrupts_restore(on);
    return e;
}

/* Ctrl-C goes on with the output, too: else it could not be seen to work. */
static void take_byte(int received)
{
    uint8_t byte = (uint8_t)received;

    if (received & SERIAL_OVERRUN)
        atomic_fetch_add(&serial_line.lost, 1);
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

/* The peer is asked to pause at three quarters of the ring, and to go on at one. What it sends
 * after XOFF until it obeys must fit above the first: a USB adapter empties its buffers of a few
 * KiB. With interrupts masked. A transmitter that is full is tried again at the next byte. */
static void pause_or_resume(void)
{
    uint32_t held = receive_ring_held(&serial_line.ring), quarter = serial_line.ring.size / 4;

    if (!atomic_load(&serial_line.flow_control))
        return;
    if (!serial_line.peer_paused && held >= 3 * quarter)
        serial_line.peer_paused = serial_line.driver->send(serial_line.uart, XOFF);
    else if (serial_line.peer_paused && held <= quarter)
        serial_line.peer_paused = !serial_line.driver->send(serial_line.uart, XON);
}

void serial_keep(const struct serial_uart *driver, void *uart)
{
    for (int i = 0; i < MOST_KEPT; i++) {
        int received = driver->receive(uart);

        if (received == SERIAL_NOTHING)
            return;
        if (received <= UINT8_MAX)
            take_byte(received);
    }
}

void serial_receive(void)
{
    int received;

    while ((received = serial_line.driver->receive(serial_line.uart)) != SERIAL_NOTHING)
        take_byte(received);
    pause_or_resume();
}

/* Where no interrupt does it. */
static void poll(void)
{
    if (!serial_line.listens)
        serial_receive();
}

/* Between the look whether there is room and the write, the handler must not send its XOFF. */
void serial_putc(char c)
{
    bool on, sent = serial_line.driver == NULL;

    while (!sent) {
        on = core_interrupts_mask();
        if (!atomic_load(&serial_line.held))
            sent = serial_line.driver->send(serial_line.uart, (uint8_t)c);
        else if (serial_line.listens && on && board.alive == NULL)
            core_idle();
        core_interrupts_restore(on);
        if (!sent)
            poll();
        if (!sent && board.alive != NULL)
            board.alive(); /* a peer that holds us is no reason for the watchdog */
    }
}

void serial_drain(void)
{
    if (serial_line.driver != NULL)
        serial_line.driver->drain(serial_line.uart);
}

int serial_getc(void)
{
    int byte;
    bool on;

    if (serial_line.driver == NULL)
        return SERIAL_NOTHING;
    poll();
    byte = receive_ring_take(&serial_line.ring);
    if (serial_line.peer_paused) {
        on = core_interrupts_mask();
        pause_or_resume();
        core_interrupts_restore(on);
    }
    return byte;
}

/* Masked, so that a byte which comes after the look ends the sleep. */
void serial_idle(void)
{
    bool on = core_interrupts_mask();

    if (serial_line.listens && receive_ring_held(&serial_line.ring) == 0 &&
        !serial_line.peer_paused)
        core_idle();
    core_interrupts_restore(on);
}

bool serial_interrupted(void)
{
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
