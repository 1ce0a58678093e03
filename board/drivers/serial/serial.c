#include "board/drivers/serial/serial.h"

#include <stdatomic.h>
#include <stddef.h>

#include "board/board.h"
#include "board/drivers/serial/receive_ring.h"
#include "board/isa.h"

enum { XON = 0x11, XOFF = 0x13 };
enum { MOST_KEPT = 256 }; /* more than any FIFO has */

/* Where the peer is asked to pause and to go on. What it sends after XOFF until it obeys must fit
 * above the first: a USB adapter empties its buffers of a few KiB. */
enum { PAUSE_AT = RECEIVE_RING_BYTES * 3 / 4, RESUME_AT = RECEIVE_RING_BYTES / 4 };

static struct {
    const struct serial_uart *driver; /* NULL: no line, output is dropped */
    void *uart;
    bool listens;
    atomic_bool flow_control;
    atomic_bool held;      /* the peer has sent XOFF */
    bool peer_paused;      /* we have; written with interrupts masked */
    _Atomic uint32_t lost; /* since serial_lost() asked */
    struct receive_ring ring;
} line;

void serial_open(const struct serial_uart *driver, void *uart)
{
    line.uart = uart;
    line.driver = driver;
}

void serial_listen(void)
{
    line.driver->listen(line.uart);
    line.listens = true;
}

/* Ctrl-C goes on with the output, too: else it could not be seen to work. */
static void take(int received)
{
    uint8_t byte = (uint8_t)received;

    if (received & SERIAL_OVERRUN)
        atomic_fetch_add(&line.lost, 1);
    if (received & SERIAL_BREAK)
        return;
    if (received & SERIAL_DAMAGED) {
        atomic_fetch_add(&line.lost, 1);
        return;
    }
    if (atomic_load(&line.flow_control)) {
        if (byte == XON || byte == XOFF) {
            atomic_store(&line.held, byte == XOFF);
            return;
        }
        if (byte == RECEIVE_RING_CTRL_C)
            atomic_store(&line.held, false);
    }
    if (!receive_ring_put(&line.ring, byte) && byte != RECEIVE_RING_CTRL_C)
        atomic_fetch_add(&line.lost, 1);
}

/* With interrupts masked. A transmitter that is full is tried again at the next byte. */
static void pause_or_resume(void)
{
    uint32_t held = receive_ring_held(&line.ring);

    if (!atomic_load(&line.flow_control))
        return;
    if (!line.peer_paused && held >= PAUSE_AT)
        line.peer_paused = line.driver->send(line.uart, XOFF);
    else if (line.peer_paused && held <= RESUME_AT)
        line.peer_paused = !line.driver->send(line.uart, XON);
}

void serial_keep(const struct serial_uart *driver, void *uart)
{
    for (int i = 0; i < MOST_KEPT; i++) {
        int received = driver->receive(uart);

        if (received == SERIAL_NOTHING)
            return;
        if (received <= UINT8_MAX)
            take(received);
    }
}

void serial_receive(void)
{
    int received;

    while ((received = line.driver->receive(line.uart)) != SERIAL_NOTHING)
        take(received);
    pause_or_resume();
}

/* Where no interrupt does it. */
static void poll(void)
{
    if (!line.listens)
        serial_receive();
}

/* Between the look whether there is room and the write, the handler must not send its XOFF. */
void serial_putc(char c)
{
    bool on, sent = line.driver == NULL;

    while (!sent) {
        on = core_interrupts_mask();
        if (!atomic_load(&line.held))
            sent = line.driver->send(line.uart, (uint8_t)c);
        else if (line.listens && on && board.alive == NULL)
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
    if (line.driver != NULL)
        line.driver->drain(line.uart);
}

int serial_getc(void)
{
    int byte;
    bool on;

    if (line.driver == NULL)
        return SERIAL_NOTHING;
    poll();
    byte = receive_ring_take(&line.ring);
    if (line.peer_paused) {
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

    if (line.listens && receive_ring_held(&line.ring) == 0 && !line.peer_paused)
        core_idle();
    core_interrupts_restore(on);
}

bool serial_interrupted(void)
{
    return receive_ring_take_ctrl_c(&line.ring);
}

uint32_t serial_lost(void)
{
    return atomic_exchange(&line.lost, 0);
}

void serial_flow_control(bool on)
{
    atomic_store(&line.flow_control, on);
    if (!on)
        atomic_store(&line.held, false);
}
