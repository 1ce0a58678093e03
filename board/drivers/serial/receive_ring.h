/* A ring of bytes from a UART. The producer is an interrupt handler or a poll, the consumer
 * reads; there is one of each, and no lock. */
#ifndef INGOT_BOARD_DRIVERS_SERIAL_RECEIVE_RING_H
#define INGOT_BOARD_DRIVERS_SERIAL_RECEIVE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"

enum { RECEIVE_RING_CTRL_C = 3 };

/* Empty where all but the memory is zero: RECEIVE_RING(memory) initializes one over an array.
 * Positions count bytes since the start and never wrap. */
struct receive_ring {
    _Atomic uint64_t put, taken;   /* each is written only by its own side */
    _Atomic uint64_t after_ctrl_c; /* position after the last Ctrl-C that arrived */
    uint64_t ctrl_c_done;          /* consumer's: those before here were acted upon */
    uint8_t *bytes;                /* the owner's memory */
    uint32_t size;                 /* size of the ring, a power of two */
};

#define RECEIVE_RING(memory) \
    { \
        .bytes = (memory), .size = sizeof(memory) \
    }

/* Continue with `size` bytes at `memory`. Waiting bytes move there, and the old memory is free.
 * Neither side may work on the ring during the call. ERR_BAD_ARGUMENT: not a power of two, or more
 * bytes wait than fit; then nothing has changed. */
enum err receive_ring_move(struct receive_ring *ring, uint8_t *memory, size_t size);

/* Producer. False: full, the byte is not kept; a Ctrl-C is noted all the same. */
bool receive_ring_put(struct receive_ring *ring, uint8_t byte);

/* Consumer: the next byte, or -1 when there is none. A Ctrl-C that was acted upon is skipped. */
int receive_ring_take(struct receive_ring *ring);

/* Consumer: true if a Ctrl-C is among the bytes not yet taken. From then on every Ctrl-C that has
 * arrived counts as handled; the other bytes stay. */
bool receive_ring_take_ctrl_c(struct receive_ring *ring);

/* Bytes not yet taken, including skipped ones. */
uint32_t receive_ring_held(const struct receive_ring *ring);

#endif
