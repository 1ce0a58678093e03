/* Bytes between whoever takes them from a UART (an interrupt handler, or a poll) and whoever reads
 * them: one producer, one consumer, no lock. */
#ifndef INGOT_BOARD_DRIVERS_SERIAL_RECEIVE_RING_H
#define INGOT_BOARD_DRIVERS_SERIAL_RECEIVE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    RECEIVE_RING_BYTES = 128 * 1024, /* 11 s of 115200 baud; a power of two */
    RECEIVE_RING_CTRL_C = 3,
};

/* Zeroed: empty. Positions count bytes since the start and never wrap. */
struct receive_ring {
    _Atomic uint64_t put, taken;   /* each written by its own side alone */
    _Atomic uint64_t after_ctrl_c; /* position behind the last Ctrl-C that arrived */
    uint64_t ctrl_c_done;          /* consumer's: those before here were acted upon */
    uint8_t bytes[RECEIVE_RING_BYTES];
};

/* Producer. False: full, the byte is not kept; a Ctrl-C is noted all the same. */
bool receive_ring_put(struct receive_ring *ring, uint8_t byte);

/* Consumer: the next byte, or -1 when there is none. A Ctrl-C that was acted upon is skipped. */
int receive_ring_take(struct receive_ring *ring);

/* Consumer: true where a Ctrl-C lies among the bytes not yet taken. Every one that has arrived
 * counts as acted upon from then on; what was typed around them stays. */
bool receive_ring_take_ctrl_c(struct receive_ring *ring);

/* Bytes not yet taken, skipped ones included. */
uint32_t receive_ring_held(const struct receive_ring *ring);

#endif
