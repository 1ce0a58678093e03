/* Any bytes typed: every line is whole UTF-8 without control bytes but LF and tabs, and fits its
 * buffer, and the lines do not depend on the portions in which the bytes arrive. */
#include <stdlib.h>
#include <string.h>

#include "runtime/text/utf8.h"
#include "tests/unit/console/console_rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINE_BYTES = 24 };

static struct {
    const uint8_t *in;
    size_t bytes, at, arrived, portion;
} terminal;

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void drop(void *context, char c)
{
    (void)context, (void)c;
}

static int fake_getc(void *context)
{
    (void)context;
    if (terminal.at == terminal.bytes) {
        return CONSOLE_CLOSED;
    }
    return terminal.at < terminal.arrived ? terminal.in[terminal.at++] : CONSOLE_NO_BYTE;
}

static uint64_t fake_ticks(void *context)
{
    (void)context;
    return 1;
}

static void fake_idle(void *context)
{
    (void)context;
    terminal.arrived += terminal.portion;
}

static void check_line(const char *line, size_t bytes)
{
    size_t at = 0;

    must(bytes < LINE_BYTES && line[bytes] == '\0');
    while (at < bytes) {
        int n = utf8_check((const uint8_t *)line + at, bytes - at);

        must(n > 0 && (n > 1 || line[at] == '\n' || line[at] == '\t' ||
                       ((uint8_t)line[at] >= 32 && line[at] != 127)));
        at += (size_t)n;
    }
}

/* Reads every line, and returns a hash of them and of how each ended. */
static uint64_t read_all(const uint8_t *data, size_t size, size_t portion, bool work_between)
{
    struct console_rig rig = { .putc = drop,
                               .getc = fake_getc,
                               .ticks = fake_ticks,
                               .hz = 1,
                               .idle = fake_idle,
                               .serial = true,
                               .echo = true };
    char *line = malloc(LINE_BYTES);
    uint64_t hash = 14695981039346656037u;
    size_t ended = 0;

    must(line != NULL);
    terminal.in = data;
    terminal.bytes = size;
    terminal.at = 0;
    terminal.arrived = terminal.portion = portion;
    console_rig_open(&rig);
    while (ended < 2 || terminal.at < terminal.bytes || console_has_input(&console)) {
        size_t bytes;
        enum err err = console_read_line(&console, "> ", line, LINE_BYTES, &bytes);

        must(err == ERR_OK || err == ERR_TOO_LONG || err == ERR_ABORTED || err == ERR_NO_DEVICE);
        check_line(line, bytes);
        for (size_t i = 0; i <= bytes; i++) {
            hash = (hash ^ (uint8_t)line[i]) * 1099511628211u;
        }
        ended += err == ERR_NO_DEVICE;
        if (err != ERR_NO_DEVICE) {
            hash = (hash ^ (uint64_t)-err) * 1099511628211u;
        }
        if (work_between) {
            (void)console_aborted(&console);
            console_log(&console, "at work");
        }
    }
    free(line);
    return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t whole, single;

    if (size > 20000) {
        return 0;
    }
    whole = read_all(data, size, size + 1, false);
    single = read_all(data, size, 1, false);
    (void)read_all(data, size, 100, true);
    /* Ctrl-C acts when it arrives, which here depends on the portions, and so does Ctrl-D at the
     * end of the input */
    must(memchr(data, 3, size) != NULL || memchr(data, 4, size) != NULL || whole == single);
    return 0;
}
