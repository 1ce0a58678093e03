/* The console's line: a UART, a ring that receives, XON/XOFF both ways. One per machine, so a board
 * puts these functions into its struct board as they are:
 *
 *   .putc = serial_putc, .getc = serial_getc, .idle = serial_idle,
 *   .interrupted = serial_interrupted, .lost = serial_lost, .flow_control = serial_flow_control
 *
 * and in early_init calls serial_open(), then, where the UART's interrupt can be had,
 * gic_take_input or plic_take_input, or what is the like for its controller: have the interrupt
 * arrive at core 0 and there call serial_receive(); serial_listen(); core_interrupts_on(). Without
 * that the ring is filled whenever core 0 looks for input. */
#ifndef INGOT_BOARD_DRIVERS_SERIAL_SERIAL_H
#define INGOT_BOARD_DRIVERS_SERIAL_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

/* What the receiver says of a byte, in bits above it. */
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

/* Take what has arrived before the driver turns the UART's FIFOs on, which empties them. Its
 * interrupt is off. What is damaged is noise of a line without a peer, and no loss. */
void serial_keep(const struct serial_uart *driver, void *uart);

/* From here on the line is that UART, which its driver has set up. XON/XOFF are off. */
void serial_open(const struct serial_uart *driver, void *uart);

/* The UART's interrupt calls serial_receive() on core 0: serial_idle() may sleep. */
void serial_listen(void);

/* Wait until all that was written has left: before the power goes. */
void serial_drain(void);

/* Move what the UART has received into the ring. From the handler; or with interrupts masked. */
void serial_receive(void);

/* board.h says what these do. */
void serial_putc(char c);
int serial_getc(void);
void serial_idle(void);
bool serial_interrupted(void);
uint32_t serial_lost(void);
void serial_flow_control(bool on);

#endif
