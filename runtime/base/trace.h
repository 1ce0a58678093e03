/* Record the work of the card and the cores over time. The owner of the workers holds the struct
 * with the latest events. While tracing is off, an event costs one test of a flag.
 * runtime/console/trace_print.h prints the events. */
#ifndef INGOT_RUNTIME_TRACE_H
#define INGOT_RUNTIME_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/platform.h"

enum { TRACE_EVENTS = 1024, TRACE_CARD = 64 /* number of the card in `on` */ };
enum trace_kind {
    TRACE_LAYER,
    TRACE_HEAD,
    TRACE_TILE,
    TRACE_WAIT,
    TRACE_KV,
    TRACE_MOVE,
    TRACE_EXPERT,
    TRACE_WAIT_EXPERT
};

struct trace_event {
    uint64_t begin, end; /* ticks */
    uint32_t number;
    uint8_t kind; /* enum trace_kind */
    uint8_t on;   /* the core, or TRACE_CARD */
};

struct trace {
    const struct platform_clock *clock;
    atomic_bool on;     /* read on any core, with relaxed memory order */
    uint64_t start;     /* ticks */
    _Atomic uint32_t n; /* number of events so far; the ring keeps the last ones */
    struct trace_event events[TRACE_EVENTS];
};

/* Make the trace empty and off. The clock must outlive the trace. */
void trace_open(struct trace *t, const struct platform_clock *clock);

/* In the next functions t may be NULL; then nothing is recorded. */

/* Forget all events, and record from now on. Core 0, between passes. */
void trace_start(struct trace *t);

/* Return the time at which an event begins; 0 while nothing is recorded. Any core. */
uint64_t trace_begin(const struct trace *t);

/* Return the number of an event about an expert, on the card or on a core. */
static inline uint32_t trace_expert(uint32_t layer, uint32_t expert)
{
    return layer << 16 | expert;
}

/* Record that the event that began at `begin` ends now. `number` is the layer or tile, the first
 * sector of a move, or trace_expert(). `on` is a core, or TRACE_CARD. Any core. */
void trace_end(struct trace *t, enum trace_kind kind, uint32_t number, unsigned on, uint64_t begin);

#endif
