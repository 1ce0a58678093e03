#include "board/drivers/serial/receive_ring.h"

#define LOAD(position) atomic_load_explicit(position, memory_order_acquire)
#define STORE(position, value) atomic_store_explicit(position, value, memory_order_release)

/* Moving changes the addresses of bytes, but not their positions in the stream. */
enum err receive_ring_move(struct receive_ring *ring, uint8_t *memory, size_t size)
{
    uint64_t put = LOAD(&ring->put);

    if (size == 0 || size > UINT32_MAX || (size & (size - 1)) != 0 ||
        receive_ring_held(ring) > size)
        return ERR_BAD_ARGUMENT;
    for (uint64_t at = LOAD(&ring->taken); at != put; at++)
        memory[at & (size - 1)] = ring->bytes[at & (ring->size - 1)];
    ring->bytes = memory;
    ring->size = (uint32_t)size;
    return ERR_OK;
}

uint32_t receive_ring_held(const struct receive_ring *ring)
{
    uint64_t taken = LOAD(&ring->taken); /* read `taken` first: `put` may grow meanwhile, but
                                            never shrinks */

    return (uint32_t)(LOAD(&ring->put) - taken);
}

bool receive_ring_put(struct receive_ring *ring, uint8_t byte)
{
    uint64_t at = LOAD(&ring->put);
    bool room = receive_ring_held(ring) < ring->size;

    if (room) {
        ring->bytes[at & (ring->size - 1)] = byte;
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
        uint8_t byte = ring->bytes[at & (ring->size - 1)];

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
