/* Output: text, log lines, the progress line. Input is in console_input.c. */
#include "runtime/console.h"

#include <stdarg.h>
#include <string.h>

#include "runtime/console_input.h"
#include "runtime/format_text.h"

enum { PROGRESS_FIRST_MS = 500, PROGRESS_STEP_MS = 100, PROGRESS_BYTES = 120 };

static struct {
    struct console_port port;
    bool in_line; /* something stands on the current line */

    bool waiting; /* between the first console_progress() and its end */
    bool drawn;   /* the progress line is the current line */
    uint64_t wait_start_ms, drawn_ms;
    uint64_t done, total;
    bool counts_bytes;
    size_t drawn_width;
    const char *label;

    char log[CONSOLE_LOG_BYTES];
    size_t log_end; /* bytes logged so far */
} console;

void console_init(const struct console_port *port)
{
    memset(&console, 0, sizeof console);
    console.port = *port;
    console_input_init(port);
}

/* What went wrong before console_init() is lost, but must not jump to address 0. */
static void put_text(const char *text, size_t bytes)
{
    if (console.port.putc == NULL) {
        return;
    }
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\n' && console.port.serial) {
            console.port.putc('\r');
        }
        console.port.putc(text[i]);
        console.in_line = text[i] != '\n';
    }
}

void console_write(const char *text, size_t bytes)
{
    if (bytes > 0 && console.drawn) {
        console.drawn = false; /* the next step is drawn on a line of its own */
        put_text("\n", 1);
    }
    put_text(text, bytes);
}

void console_write_to(void *context, const char *text, size_t bytes)
{
    (void)context;
    console_write(text, bytes);
}

__attribute__((format(printf, 1, 0)))
static void print_args(const char *format, va_list args)
{
    char text[CONSOLE_PRINT_BYTES];
    size_t length = format_text_args(text, sizeof text, format, args);

    console_write(text, length < sizeof text ? length : sizeof text - 1);
}

void console_printf(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_args(format, args);
    va_end(args);
}

uint64_t console_millis(void)
{
    uint64_t hz = console.port.ticks_hz != NULL ? console.port.ticks_hz() : 0;
    uint64_t ticks;

    if (hz == 0 || console.port.ticks == NULL) {
        return 0;
    }
    ticks = console.port.ticks() - console.port.start_ticks;
    return ticks / hz * 1000 + ticks % hz * 1000 / hz;
}

/* What is printed is also kept. */
static void log_text(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        console.log[console.log_end++ % CONSOLE_LOG_BYTES] = text[i];
    }
    console_write(text, bytes);
}

void console_log(const char *format, ...)
{
    char text[CONSOLE_PRINT_BYTES];
    uint64_t ms = console_millis();
    va_list args;
    size_t n;

    if (console.in_line && !console.drawn) { /* the progress line is ended by console_write() */
        put_text("\n", 1);
    }
    log_text(text, format_text(text, sizeof text, "[%5llu.%03u] ",
                               (unsigned long long)(ms / 1000), (unsigned)(ms % 1000)));
    va_start(args, format);
    n = format_text_args(text, sizeof text, format, args);
    va_end(args);
    log_text(text, n < sizeof text ? n : sizeof text - 1);
    log_text("\n", 1);
}

void console_repeat_log(void)
{
    size_t at = console.log_end > CONSOLE_LOG_BYTES ? console.log_end - CONSOLE_LOG_BYTES : 0;

    if (at != 0) { /* from the next whole line on */
        while (at < console.log_end && console.log[at++ % CONSOLE_LOG_BYTES] != '\n') {
        }
    }
    for (; at < console.log_end; at++) {
        console_write(&console.log[at % CONSOLE_LOG_BYTES], 1);
    }
}

static unsigned percent_of(uint64_t done, uint64_t total)
{
    if (done >= total) {
        return 100;
    }
    return (unsigned)(total < UINT64_MAX / 100 ? done * 100 / total : done / (total / 100));
}

/* Over the old text, with spaces where that was longer. */
static void draw_progress(uint64_t ms)
{
    char done[FORMAT_NUMBER_BYTES];
    char total[FORMAT_NUMBER_BYTES];
    char line[PROGRESS_BYTES];
    uint64_t waited = ms - console.wait_start_ms;
    size_t width = format_text(line, sizeof line, "[%5llu.%03u] %.40s %u %%",
                               (unsigned long long)(ms / 1000), (unsigned)(ms % 1000),
                               console.label, percent_of(console.done, console.total));

    if (console.counts_bytes) {
        width += format_text(line + width, sizeof line - width, ", %s of %s",
                             format_bytes(done, console.done),
                             format_bytes(total, console.total));
        width += format_text(line + width, sizeof line - width, ", %s MB/s",
                             format_ratio(done, console.done, waited * 1000, 1));
    }
    if (console.done > 0 && console.done < console.total) {
        width += format_text(line + width, sizeof line - width, ", %s s left",
                             format_milli(done, waited * (console.total - console.done) /
                                                    console.done, 0));
    }
    if (console.in_line && !console.drawn) {
        put_text("\n", 1);
    }
    put_text("\r", 1);
    put_text(line, strlen(line));
    for (size_t i = width; i < console.drawn_width && console.drawn; i++) {
        put_text(" ", 1);
    }
    console.drawn = true;
    console.drawn_width = width;
    console.drawn_ms = ms;
}

static void show_progress(const char *label, uint64_t done, uint64_t total, bool counts_bytes)
{
    uint64_t ms = console_millis();

    if (!console.waiting) {
        console.waiting = true;
        console.wait_start_ms = ms;
        console.drawn_ms = 0;
    }
    console.label = label;
    console.done = done;
    console.total = total;
    console.counts_bytes = counts_bytes;
    if (ms - console.wait_start_ms >= PROGRESS_FIRST_MS &&
        ms - console.drawn_ms >= PROGRESS_STEP_MS) {
        draw_progress(ms);
    }
}

void console_progress(const char *label, uint64_t done, uint64_t total)
{
    show_progress(label, done, total, true);
}

void console_progress_share(const char *label, uint64_t done, uint64_t total)
{
    show_progress(label, done, total, false);
}

void console_progress_end(void)
{
    if (console.drawn) {
        draw_progress(console_millis());
        console.drawn = false;
        put_text("\n", 1);
    }
    console.waiting = false;
}
