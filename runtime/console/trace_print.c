#include "runtime/console/trace_print.h"

#include "runtime/text/format_text.h"

static unsigned long long micros(const struct trace *t, uint64_t ticks)
{
    uint64_t hz = t->clock->hz;

    return ticks / hz * 1000000 + ticks % hz * 1000000 / hz;
}

/* Return the number's text: "3", or "2.11" for expert 11 of layer 2. */
static const char *number_text(char text[FORMAT_NUMBER_BYTES], const struct trace_event *e)
{
    unsigned n = (unsigned)e->number;

    if (e->kind == TRACE_EXPERT || e->kind == TRACE_WAIT_EXPERT) {
        (void)format_text(text, FORMAT_NUMBER_BYTES, "%u.%u", n >> 16, n & 0xffff);
    } else {
        (void)format_text(text, FORMAT_NUMBER_BYTES, "%u", n);
    }
    return text;
}

static void print_event(struct console *c, const struct trace *t, const struct trace_event *e,
                        const char *after)
{
    static const char *const names[] = { "layer", "head", "tile",   "wait",
                                         "kv",    "move", "expert", "wait" };
    char number[FORMAT_NUMBER_BYTES];

    console_printf(c,
                   "{\"name\":\"%s %s\",\"ph\":\"X\",\"pid\":0,\"tid\":%u,\"ts\":%llu,"
                   "\"dur\":%llu}%s\n",
                   names[e->kind], number_text(number, e), (unsigned)e->on,
                   micros(t, e->begin - t->start), micros(t, e->end - e->begin), after);
}

void trace_print(struct console *c, struct trace *t)
{
    uint32_t n, first = 0;

    if (t == NULL) {
        return;
    }
    n = atomic_load(&t->n);
    if (n > TRACE_EVENTS) {
        first = n - TRACE_EVENTS;
    }
    console_printf(c, "[\n");
    for (uint32_t i = first; i < n; i++) {
        print_event(c, t, &t->events[i % TRACE_EVENTS], i + 1 < n ? "," : "");
    }
    console_printf(c, "]\n");
    atomic_store(&t->n, 0);
}
