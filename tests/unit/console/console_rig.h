/* A console for tests, whose terminal the test plays: its functions are those of struct
 * platform_console and struct platform_clock. */
#ifndef INGOT_TESTS_UNIT_CONSOLE_RIG_H
#define INGOT_TESTS_UNIT_CONSOLE_RIG_H

#include "runtime/console/console.h"

struct console_rig {
    void (*putc)(void *context, char c);
    int (*getc)(void *context);
    uint64_t (*ticks)(void *context);
    uint64_t hz, start; /* of the ticks */
    void (*idle)(void *context);
    bool (*interrupted)(void *context);
    uint32_t (*lost)(void *context);
    bool serial, echo;
};

static struct platform console_platform;
static struct console console;

__attribute__((unused)) static void console_rig_open(const struct console_rig *r)
{
    struct console_setup setup = { r->serial, r->echo };

    console_platform.clock =
        (struct platform_clock){ .ticks = r->ticks, .hz = r->hz, .start = r->start };
    console_platform.console = (struct platform_console){ .putc = r->putc,
                                                          .getc = r->getc,
                                                          .idle = r->idle,
                                                          .interrupted = r->interrupted,
                                                          .lost = r->lost };
    console_open(&console, &console_platform, &setup);
}

#endif
