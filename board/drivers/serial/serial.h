/* The console's line: a UART, a ring for received bytes, and XON/XOFF in both directions. A
 * machine has one console, so a board puts these functions directly into its struct board
 * (SERIAL_CONSOLE). The board's early_init calls serial_open(), then serial_listen() with the
 * UART's interrupt. Core 0 fills the ring whenever it looks for input, so input never depends on an
 * interrupt. */
#ifndef INGOT_BOARD_DRIVERS_SERIAL_SERIAL_H
#define INGOT_BOARD_DRIVERS_SERIAL_SERIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"

/* Flags that a receiver sets in the bits above a byte. */
enum {
    SERIAL_NOTHING = -1,
    SERIAL_DAMAGED = 1 << 8, /* framing or parity error: dropped and counted */
    SERIAL_OVERRUN = 1 << 9, /* a byte before or after this one was lost: counted */
    SERIAL_BREAK = 1 << 10,  /* not a byte: the line was held low */
};

/* The functions of one driver. The interrupt handler may call all of them, so they use no floating
 * point, and no function of the C library, which copies with vector registers. */
struct serial_uart {
    int (*receive)(void *uart);             /* the next byte with the flags above, or
                                               SERIAL_NOTHING */
    bool (*send)(void *uart, uint8_t byte); /* false if the transmitter is full */
    void (*listen)(void *uart);             /* let the UART interrupt when bytes have arrived */
    void (*drain)(void *uart);              /* wait until the last bit has left */
};

/* Keep the bytes that have arrived. Call this before the driver turns the UART's FIFOs on, which
 * empties them. The UART's interrupt must be off. Damaged bytes are noise of a line without a peer
 * and do not count as lost. */
void serial_keep(const struct serial_uart *driver, void *uart);

/* As serial_keep, for one byte that the driver has read. */
void serial_keep_byte(uint8_t byte);

/* From now on use this UART, which its driver has set up. XON/XOFF is off. */
void serial_open(const struct serial_uart *driver, void *uart);

/* Add a second UART to the console, after serial_open: output goes to both, and input comes from
 * either. The second UART is polled often enough for a FIFO of 16 bytes at 115200 baud, and ignored
 * once it can no longer send. */
void serial_also(const struct serial_uart *driver, void *uart);

/* From now on also receive by this interrupt, so that serial_idle() may sleep. Call it after
 * serial_open, on core 0, once for each interrupt that may be the UART's. Returns errors of
 * irq_take (board/interrupt.h); after an error the line is polled as before. */
enum err serial_listen(uint32_t interrupt);

/* Wait until all output has been sent, before the power goes off. */
void serial_drain(void);

/* Move received bytes, at most as many as a FIFO holds, from the UART into the ring. Call from the
 * handler, or with interrupts masked. False: there were none. */
bool serial_receive(void);

/* Add another source of input, such as a keyboard: `take` gives a byte or -1. Core 0 calls `take`
 * whenever it looks for input, and it then wakes from its sleep more often than for the UART alone.
 * Up to four sources, each context once; more are ignored. */
void serial_join(int (*take)(void *context), void *context);

/* Look at every source; returns true if a byte waits for serial_getc. */
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

/* These functions as members of struct board. */
#define SERIAL_CONSOLE \
    .putc = serial_putc, .getc = serial_getc, .idle = serial_idle, .nap = serial_nap, \
    .rest = serial_rest, .interrupted = serial_interrupted, .lost = serial_lost, \
    .flow_control = serial_flow_control, .set_input_buffer = serial_set_input_buffer

#endif
