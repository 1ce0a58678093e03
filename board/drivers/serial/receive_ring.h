/* Bytes between whoever takes them from a UART (an interrupt handler, or a poll) and whoever reads
 * them: one producer, one consumer, no lock. */
#ifndef INGOT_BOARD_DRIVERS_SERIAL_RECEIVE_RING_H
#define INGOT_BOARD_DRIVERS_SERIAL_RECEIVE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"

enum { RECEIVE_RING_CTRL_C = 3 };

/* Empty where all but the memory is zero: RECEIVE_RING(memory) initialises one over an array. Positions
 * count bytes since the start and never wrap. */
struct receive_ring {
    _Atomic uint64_t put, taken;   /* each written by its own side alone */
    _Atomic uint64_t after_ctrl_c; /* position after the last Ctrl-C that arrived */
    uint64_t ctrl_c_done;          /* consumer's: those before here were acted upon */
    uint8_t *bytes;                /* the owner's memory */
    uint32_t size;                 /* of it, a power of two */
};

#define RECEIVE_RING(memory)                      \
    {                                             \
        .bytes = (memory), .size = sizeof(memory) \
    }

/* Go on in `size` bytes at `memory`; what waits moves along, and the memory before is free. Neither
 * side may be at work meanwhile. ERR_BAD_ARGUMENT: not a power of two, or more is waiting than fits;
 * then nothing has changed. */
enum err receive_ring_move(struct receive_ring *ring, uint8_t *memory, size_t size);

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
