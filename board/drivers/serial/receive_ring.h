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

/* A ring is empty if all members but `bytes` and `size` are zero; RECEIVE_RING(memory) makes an
 * empty one over an array. Positions count bytes since the start and never wrap. */
struct receive_ring {
    _Atomic uint64_t put, taken;   /* each is written only by its own side */
    _Atomic uint64_t after_ctrl_c; /* position after the last Ctrl-C that arrived */
    uint64_t ctrl_c_done;          /* consumer: every Ctrl-C before this position was handled */
    uint8_t *bytes;                /* the owner's memory */
    uint32_t size;                 /* size of the ring, a power of two */
};

#define RECEIVE_RING(memory) \
    { \
        .bytes = (memory), .size = sizeof(memory) \
    }

/* Use `size` bytes at `memory` from now on. Waiting bytes move there, and the old memory is free.
 * Neither side may use the ring during the call. ERR_BAD_ARGUMENT: size is not a power of two, or
 * more bytes wait than fit; nothing changes. */
enum err receive_ring_move(struct receive_ring *ring, uint8_t *memory, size_t size);

/* Producer: put a byte. False if the ring is full and drops the byte; a Ctrl-C is noted anyway. */
bool receive_ring_put(struct receive_ring *ring, uint8_t byte);

/* Consumer: take the next byte; -1 if there is none. A Ctrl-C that was handled is skipped. */
int receive_ring_take(struct receive_ring *ring);

/* Consumer: true if a Ctrl-C is among the bytes not yet taken. Every Ctrl-C that has arrived then
 * counts as handled; the other bytes stay. */
bool receive_ring_take_ctrl_c(struct receive_ring *ring);

/* The number of bytes not yet taken, including skipped ones. */
uint32_t receive_ring_held(const struct receive_ring *ring);

#endif
