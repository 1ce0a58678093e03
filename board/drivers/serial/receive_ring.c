#include "board/drivers/serial/receive_ring.h"

#define LOAD(position) atomic_load_explicit(position, memory_order_acquire)
#define STORE(position, value) atomic_store_explicit(position, value, memory_order_release)

_Static_assert((RECEIVE_RING_BYTES & (RECEIVE_RING_BYTES - 1)) == 0, "a mask takes the remainder");

uint32_t receive_ring_held(const struct receive_ring *ring)
{
    uint64_t taken = LOAD(&ring->taken); /* first: the other may only grow meanwhile */

    return (uint32_t)(LOAD(&ring->put) - taken);
}

bool receive_ring_put(struct receive_ring *ring, uint8_t byte)
{
    uint64_t at = LOAD(&ring->put);
    bool room = receive_ring_held(ring) < RECEIVE_RING_BYTES;

    if (room) {
        ring->bytes[at % RECEIVE_RING_BYTES] = byte;
        STORE(&ring->put, at + 1);
    }
    if (byte == RECEIVE_RING_CTRL_C)
        STORE(&ring->after_ctrl_c, at + room);
    return room;
}

int receive_ring_take(struct receive_ring *ring)
{
    uint64_t at = LOAD(&ring->taken);

    while (at != LOAD(&ring->put)) {
        uint8_t byte = ring->bytes[at % RECEIVE_RING_BYTES];

        STORE(&ring->taken, ++at);
        if (byte != RECEIVE_RING_CTRL_C || at > ring->ctrl_c_done)
            return byte;
    }
    return -1;
}

bool receive_ring_take_ctrl_c(struct receive_ring *ring)
{
    uint64_t after = LOAD(&ring->after_ctrl_c);

    if (after <= LOAD(&ring->taken) || after <= ring->ctrl_c_done)
        return false;
    ring->ctrl_c_done = after;
    return true;
}
