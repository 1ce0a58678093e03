/* A line whose far end is written by a test: arriving bytes are in a ring, and sent bytes go to a
 * function. */
#ifndef INGOT_TESTS_UNIT_FAKE_WIRE_H
#define INGOT_TESTS_UNIT_FAKE_WIRE_H

#include <string.h>

#include "runtime/transfer/transfer_wire.h"

enum { FAKE_WIRE_BYTES = 1 << 19 };

static struct fake_wire {
    uint8_t in[FAKE_WIRE_BYTES]; /* what arrives */
    unsigned head, tail;
    uint64_t now;
    unsigned n_slow;
    void (*hear)(const uint8_t *bytes, size_t n); /* what the board says */
    void (*idle)(void);                           /* nothing is there to arrive; or NULL */
} fake_wire;

static inline void fake_wire_send(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fake_wire.in[fake_wire.tail++ % FAKE_WIRE_BYTES] = bytes[i];
}

static inline int fake_wire_get(void *context, uint32_t ms)
{
    (void)context;
    if (fake_wire.head == fake_wire.tail && fake_wire.idle != NULL)
        fake_wire.idle();
    if (fake_wire.head == fake_wire.tail) {
        fake_wire.now += ms;
        return TRANSFER_NO_BYTE;
    }
    return fake_wire.in[fake_wire.head++ % FAKE_WIRE_BYTES];
}

static inline void fake_wire_put(void *context, const uint8_t *bytes, size_t n)
{
    (void)context;
    if (fake_wire.hear != NULL)
        fake_wire.hear(bytes, n);
}

static inline uint64_t fake_wire_millis(void *context)
{
    (void)context;
    return fake_wire.now;
}

static inline void fake_wire_slow(void *context)
{
    (void)context;
    fake_wire.n_slow++;
}

static const struct transfer_wire fake_line = { NULL, fake_wire_get, fake_wire_put,
                                                fake_wire_millis, NULL };
static const struct transfer_wire fake_fast_line = { NULL, fake_wire_get, fake_wire_put,
                                                     fake_wire_millis, fake_wire_slow };

static inline void fake_wire_clear(void)
{
    memset(&fake_wire, 0, sizeof fake_wire);
}

#endif
