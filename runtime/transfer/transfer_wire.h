/* The line that a transfer uses. */
#ifndef INGOT_RUNTIME_TRANSFER_WIRE_H
#define INGOT_RUNTIME_TRANSFER_WIRE_H

#include <stddef.h>
#include <stdint.h>

enum { TRANSFER_NO_BYTE = -1 };

struct transfer_wire {
    void *context;
    /* Return the next byte, unchanged; TRANSFER_NO_BYTE if none came within `ms` milliseconds. */
    int (*get)(void *context, uint32_t ms);
    void (*put)(void *context, const uint8_t *bytes, size_t n);
    uint64_t (*millis)(void *context);
    /* Return to the line's former rate, because the other end does not understand the present
     * rate. NULL if the rate was not changed. */
    void (*slow)(void *context);
};

#endif
