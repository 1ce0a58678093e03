/* The console's line: a UART, a ring that receives, XON/XOFF both ways. A machine has one, so a
 * board puts these functions into its struct board as they are (SERIAL_CONSOLE), and calls in
 * early_init serial_open(), then serial_listen() with the line of the UART's interrupt. Without
 * an interrupt the ring is filled whenever core 0 looks for input; and with one as well, so that input
 * never depends on an interrupt. */
#ifndef INGOT_BOARD_DRIVERS_SERIAL_SERIAL_H
#define INGOT_BOARD_DRIVERS_SERIAL_SERIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"

/* Marks of the receiver on a byte, in bits above it. */
enum {
    SERIAL_NOTHING = -1,
    SERIAL_DAMAGED = 1 << 8, /* framing or parity: dropped and counted */
    SERIAL_OVERRUN = 1 << 9, /* a byte before or after this one was lost: counted */
    SERIAL_BREAK = 1 << 10,  /* no byte: the line was held low */
};

/* One driver's half. All of it may be called from the interrupt handler: no floating point, and no
 * function of the C library, which copies with vector registers. */
struct serial_uart {
    int (*receive)(void *uart);             /* the next byte with the bits above, or _NOTHING */
    bool (*send)(void *uart, uint8_t byte); /* false: the transmitter is full */
    void (*listen)(void *uart);             /* interrupt when bytes have arrived */
    void (*drain)(void *uart);              /* wait until the last bit has left */
};

/* Take the bytes that have arrived, before the driver turns the UART's FIFOs on and so empties
 * them. Its interrupt is off. Damaged bytes are noise of a line without a peer, and do not count
 * as lost. */
void serial_keep(const struct serial_uart *driver, void *uart);

/* The same for one byte, which the driver has read. */
void serial_keep_byte(uint8_t byte);

/* From now on the line is that UART; its driver has set it up. XON/XOFF are off. */
void serial_open(const struct serial_uart *driver, void *uart);

/* A second UART for the same console, after serial_open: what is written goes out at both, and input comes from either. It is
 * polled, often enough for a FIFO of 16 at 115200 baud. One that does not send any more is left out. */
void serial_also(const struct serial_uart *driver, void *uart);

/* From now on receive by that interrupt, too, so that serial_idle() may sleep. After serial_open, on
 * core 0; once for each line that may be the UART's. Errors: those of irq_take (board/interrupt.h); then
 * the line is polled, as before. */
enum err serial_listen(uint32_t interrupt);

/* Wait until all that was written has left: before the power goes. */
void serial_drain(void);

/* Move received bytes from the UART into the ring, not more than a FIFO's. From the handler; or with
 * interrupts masked. False: there were none. */
bool serial_receive(void);

/* One more source of the same input, a keyboard: `take` gives a byte or -1. Core 0 asks it wherever it looks for
 * input, and more often than an idle line would be looked at. Up to four, each context once; more are not heard. */
void serial_join(int (*take)(void *context), void *context);

/* Look at every source: whether a byte waits for serial_getc. */
bool serial_has_input(void);

/* board.h says what these do. */
void serial_putc(char c);
int serial_getc(void);
void serial_idle(void);
void serial_nap(void);
void serial_rest(uint32_t micros);
bool serial_interrupted(void);
uint32_t serial_lost(void);
void serial_flow_control(bool on);
enum err serial_set_input_buffer(uint8_t *memory, size_t bytes);

/* These, as members of struct board. */
#define SERIAL_CONSOLE \
    .putc = serial_putc, .getc = serial_getc, .idle = serial_idle, .nap = serial_nap, \
    .rest = serial_rest, .interrupted = serial_interrupted, .lost = serial_lost, \
    .flow_control = serial_flow_control, .set_input_buffer = serial_set_input_buffer

#endif
