/* The console's line: a UART, a ring that receives, XON/XOFF in both directions. A machine has
 * one, so a board puts these functions directly into its struct board (SERIAL_CONSOLE), and
 * calls in early_init serial_open(), then serial_listen() with the line of the UART's interrupt.
 * The ring is filled whenever core 0 looks for input, with or without an interrupt, so that
 * input never depends on one. */
#ifndef INGOT_BOARD_DRIVERS_SERIAL_SERIAL_H
#define INGOT_BOARD_DRIVERS_SERIAL_SERIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"

/* Flags of the receiver on a byte, in the bits above it. */
enum {
    SERIAL_NOTHING = -1,
    SERIAL_DAMAGED = 1 << 8, /* framing or parity error: dropped and counted */
    SERIAL_OVERRUN = 1 << 9, /* a byte before or after this one was lost: counted */
    SERIAL_BREAK = 1 << 10,  /* no byte: the line was held low */
};

/* The functions of one driver. All of them may be called from the interrupt handler: no floating
 * point, and no function of the C library, which copies with vector registers. */
struct serial_uart {
    int (*receive)(void *uart);             /* the next byte with the bits above, or _NOTHING */
    bool (*send)(void *uart, uint8_t byte); /* false: the transmitter is full */
    void (*listen)(void *uart);             /* interrupt when bytes have arrived */
    void (*drain)(void *uart);              /* wait until the last bit has left */
};

/* Take the bytes that have arrived, before the driver turns the UART's FIFOs on and so empties
 * them. Its interrupt must be off. Damaged bytes are noise of a line without a peer, and do not
 * count as lost. */
void serial_keep(const struct serial_uart *driver, void *uart);

/* The same for one byte, which the driver has read. */
void serial_keep_byte(uint8_t byte);

/* From now on the line is that UART; its driver has set it up. XON/XOFF are off. */
void serial_open(const struct serial_uart *driver, void *uart);

/* A second UART for the same console, after serial_open: output goes to both, and input comes
 * from either. It is polled, often enough for a FIFO of 16 at 115200 baud. A UART that stops
 * sending is left out. */
void serial_also(const struct serial_uart *driver, void *uart);

/* From now on also receive by that interrupt, so that serial_idle() may sleep. Call after
 * serial_open, on core 0, once for each line that may be the UART's. Errors: those of irq_take
 * (board/interrupt.h); the line is then polled as before. */
enum err serial_listen(uint32_t interrupt);

/* Wait until everything that was written has been sent, before the power goes off. */
void serial_drain(void);

/* Move received bytes from the UART into the ring, at most a FIFO's. Call from the handler, or
 * with interrupts masked. False: there were none. */
bool serial_receive(void);

/* Another source of the same input, a keyboard: `take` gives a byte or -1. Core 0 asks it
 * whenever it looks for input, and more often than an idle line would be looked at. Up to four,
 * each context once; further ones are ignored. */
void serial_join(int (*take)(void *context), void *context);

/* Look at every source: whether a byte waits for serial_getc. */
bool serial_has_input(void);

/* board.h describes these. */
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
