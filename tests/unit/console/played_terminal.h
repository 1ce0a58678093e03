/* The console against a terminal played here: a script of input that arrives in portions, a clock
 * that the test moves, and a record of all output. */
#ifndef INGOT_TESTS_UNIT_PLAYED_TERMINAL_H
#define INGOT_TESTS_UNIT_PLAYED_TERMINAL_H

#include <stdlib.h>
#include <string.h>

#include "tests/unit/console/console_rig.h"
#include "tests/unit/tap.h"

enum { OUT_BYTES = 1 << 20, IDLE_LIMIT = 1000000 };

static struct {
    const char *in;
    size_t in_bytes, at;
    size_t portion; /* bytes that arrive between two sleeps */
    size_t arrived;
    bool closes;               /* at the end of the script the other end hangs up */
    uint64_t ticks, tick_step; /* time that passes whenever somebody looks */
    unsigned idles;
    char out[OUT_BYTES];
    size_t out_bytes;
} terminal;

static inline void fake_putc(void *context, char c)
{
    (void)context;
    if (terminal.out_bytes == OUT_BYTES) {
        abort();
    }
    terminal.out[terminal.out_bytes++] = c;
}

static inline int fake_getc(void *context)
{
    (void)context;
    if (terminal.at < terminal.in_bytes && terminal.at < terminal.arrived) {
        return (unsigned char)terminal.in[terminal.at++];
    }
    return terminal.at == terminal.in_bytes && terminal.closes ? CONSOLE_CLOSED : CONSOLE_NO_BYTE;
}

static inline uint64_t fake_ticks(void *context)
{
    (void)context;
    terminal.ticks += terminal.tick_step;
    return terminal.ticks;
}

/* Input that never comes would hang the test, so this stops it. */
static inline void fake_idle(void *context)
{
    (void)context;
    terminal.arrived += terminal.portion;
    if (++terminal.idles > IDLE_LIMIT) {
        printf("Bail out! waits for input that does not come\n");
        exit(1);
    }
}

static inline void plug_in(const char *in, size_t bytes, size_t portion, bool serial)
{
    struct console_rig rig = { .putc = fake_putc,
                               .getc = fake_getc,
                               .ticks = fake_ticks,
                               .hz = 1000000,
                               .start = 500000,
                               .idle = fake_idle,
                               .serial = serial,
                               .echo = true };

    memset(&terminal, 0, sizeof terminal);
    terminal.in = in;
    terminal.in_bytes = bytes;
    terminal.portion = terminal.arrived = portion;
    terminal.ticks = 500000;
    terminal.closes = true;
    console_rig_open(&rig);
}

static inline bool wrote(const char *expected)
{
    bool same = terminal.out_bytes == strlen(expected) &&
                memcmp(terminal.out, expected, terminal.out_bytes) == 0;

    if (!same) {
        printf("# wrote \"");
        for (size_t i = 0; i < terminal.out_bytes && i < 400; i++) {
            unsigned char c = (unsigned char)terminal.out[i];

            printf(c >= 32 && c < 127 ? "%c" : "\\x%02x", c);
        }
        printf("\"\n");
    }
    terminal.out_bytes = 0;
    return same;
}

struct reading {
    char line[64];
    size_t bytes;
    enum err err;
};

static inline struct reading next_line(size_t max)
{
    struct reading r;

    memset(&r, '#', sizeof r);
    r.err = console_read_line(&console, "", r.line, max, &r.bytes);
    return r;
}

static inline bool is(struct reading r, const char *expected)
{
    bool same = r.err == ERR_OK && r.bytes == strlen(expected) && strcmp(r.line, expected) == 0;

    if (!same) {
        printf("# read %d \"%s\"\n", r.err, r.line);
    }
    return same;
}

#endif
