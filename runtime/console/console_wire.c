#include "runtime/console/console_wire.h"

static void set_flow(struct console *c, bool on)
{
    const struct platform_console *p = &c->platform->console;

    if (p->flow_control != NULL) {
        p->flow_control(p->context, on);
    }
}

void console_wire_begin(struct console *c, bool all)
{
    c->input.reading = true;
    if (all) {
        set_flow(c, false);
    }
}

void console_wire_put(struct console *c, const uint8_t *bytes, size_t n)
{
    const struct platform_console *p = &c->platform->console;

    for (size_t i = 0; i < n; i++) {
        p->putc(p->context, (char)bytes[i]);
    }
}

void console_wire_end(struct console *c, bool flow)
{
    c->input.reading = false;
    c->input.aborted = false;
    console_wire_put(c, (const uint8_t *)"\r\n", 2); /* the far end has an incomplete line */
    set_flow(c, flow);
}

int console_wire_get(struct console *c, uint32_t ms)
{
    const struct platform_console *p = &c->platform->console;
    uint64_t start = console_millis(c);

    while (!console_has_input(c)) {
        if (console_is_closed(c) || console_millis(c) - start >= ms) {
            return CONSOLE_NO_BYTE;
        }
        if (p->nap != NULL) {
            p->nap(p->context);
        }
        platform_yield(&c->platform->cores);
    }
    return c->input.ring[c->input.head++ % CONSOLE_RING_BYTES];
}

void console_wire_rate(struct console *c, uint32_t baud)
{
    const struct platform_console *p = &c->platform->console;

    if (p->set_baud != NULL) {
        p->set_baud(p->context, baud);
    }
}
