#include "runtime/console/trace.h"

#include <stdatomic.h>

#include "board/board.h"
#include "runtime/console/console.h"

struct event {
    uint64_t begin, end; /* ticks */
    uint32_t number;
    uint8_t kind;
    uint8_t on;
};

static struct {
    bool on;
    uint64_t start;
    _Atomic uint32_t n; /* events so far; the ring keeps the last ones */
    struct event events[TRACE_EVENTS];
} trace;

void trace_start(void)
{
    trace.on = true;
    trace.start = board.ticks();
    atomic_store(&trace.n, 0);
}

uint64_t trace_begin(void)
{
    return trace.on ? board.ticks() : 0;
}

void trace_end(enum trace_kind kind, uint32_t number, unsigned on, uint64_t begin)
{
    if (trace.on && begin != 0) {
        trace.events[atomic_fetch_add(&trace.n, 1) % TRACE_EVENTS] =
            (struct event){ begin, board.ticks(), number, (uint8_t)kind, (uint8_t)on };
    }
}

static unsigned long long micros(uint64_t ticks)
{
    uint64_t hz = board.ticks_hz();

    return ticks / hz * 1000000 + ticks % hz * 1000000 / hz;
}

void trace_print(void)
{
    static const char *const names[] = { "layer", "head", "tile", "wait", "kv", "move" };
    uint32_t n = atomic_load(&trace.n);
    uint32_t first = n > TRACE_EVENTS ? n - TRACE_EVENTS : 0;

    console_printf("[\n");
    for (uint32_t i = first; i < n; i++) {
        const struct event *e = &trace.events[i % TRACE_EVENTS];

        console_printf("{\"name\":\"%s %u\",\"ph\":\"X\",\"pid\":0,\"tid\":%u,\"ts\":%llu,"
                       "\"dur\":%llu}%s\n",
                       names[e->kind], (unsigned)e->number, (unsigned)e->on,
                       micros(e->begin - trace.start), micros(e->end - e->begin),
                       i + 1 < n ? "," : "");
    }
    console_printf("]\n");
    atomic_store(&trace.n, 0);
}
