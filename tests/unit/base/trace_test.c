/* The contents of a trace: nothing while it is off or missing, else the latest events. Two traces
 * know nothing of each other. */
#include "runtime/base/trace.h"

#include "tests/unit/tap.h"

static uint64_t now[2];

static uint64_t ticks_of(void *context)
{
    return *(uint64_t *)context;
}

static struct platform_clock clocks[2] = { { .context = &now[0], .ticks = ticks_of, .hz = 1000 },
                                           { .context = &now[1], .ticks = ticks_of, .hz = 1000 } };
static struct trace traces[2];

static void test_off(void)
{
    now[0] = 5;
    trace_open(&traces[0], &clocks[0]);
    trace_start(NULL);
    trace_end(NULL, TRACE_LAYER, 1, 0, 1);
    OK(trace_begin(NULL) == 0, "without a trace no row begins");
    OK(trace_begin(&traces[0]) == 0, "a trace that is off begins nothing");
    trace_end(&traces[0], TRACE_LAYER, 1, 0, 1);
    OK(atomic_load(&traces[0].n) == 0, "a trace that is off keeps nothing");
}

static void test_two(void)
{
    uint64_t begun;

    for (int i = 0; i < 2; i++) {
        now[i] = 100u * (unsigned)(i + 1);
        trace_open(&traces[i], &clocks[i]);
        trace_start(&traces[i]);
    }
    now[1] += 7;
    begun = trace_begin(&traces[1]);
    now[1] += 3;
    trace_end(&traces[1], TRACE_TILE, 12, TRACE_CARD, begun);
    OK(atomic_load(&traces[0].n) == 0 && atomic_load(&traces[1].n) == 1,
       "each core has its own events");
    OK(traces[1].events[0].begin == 207 && traces[1].events[0].end == 210 && traces[1].start == 200,
       "each core is timed by its own clock");
    OK(traces[1].events[0].kind == TRACE_TILE && traces[1].events[0].number == 12 &&
           traces[1].events[0].on == TRACE_CARD,
       "an event keeps what was said of it");
}

static void test_ring(void)
{
    uint32_t n = TRACE_EVENTS + 3;

    trace_start(&traces[0]);
    for (uint32_t i = 0; i < n; i++) {
        trace_end(&traces[0], TRACE_LAYER, i, 0, trace_begin(&traces[0]));
    }
    OK(atomic_load(&traces[0].n) == n && traces[0].events[2].number == n - 1 &&
           traces[0].events[3].number == 3,
       "the latest %d events are kept", TRACE_EVENTS);
    trace_start(&traces[0]);
    OK(atomic_load(&traces[0].n) == 0, "a trace that is started again has no events");
}

int main(void)
{
    test_off();
    test_two();
    test_ring();
    return tap_done();
}
