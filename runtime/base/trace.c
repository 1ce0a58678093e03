#include "runtime/base/trace.h"

void trace_open(struct trace *t, const struct platform_clock *clock)
{
    t->clock = clock;
    atomic_store_explicit(&t->on, false, memory_order_relaxed);
    atomic_store(&t->n, 0);
}

void trace_start(struct trace *t)
{
    if (t == NULL) {
        return;
    }
    atomic_store_explicit(&t->on, true, memory_order_relaxed);
    t->start = platform_ticks(t->clock);
    atomic_store(&t->n, 0);
}

static bool is_on(const struct trace *t)
{
    return t != NULL && atomic_load_explicit(&t->on, memory_order_relaxed);
}

uint64_t trace_begin(const struct trace *t)
{
    if (!is_on(t)) {
        return 0;
    }
    return platform_ticks(t->clock);
}

void trace_end(struct trace *t, enum trace_kind kind, uint32_t number, unsigned on, uint64_t begin)
{
    if (!is_on(t) || begin == 0) {
        return;
    }
    t->events[atomic_fetch_add(&t->n, 1) % TRACE_EVENTS] =
        (struct trace_event){ begin, platform_ticks(t->clock), number, (uint8_t)kind, (uint8_t)on };
}
