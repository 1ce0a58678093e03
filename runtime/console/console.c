/* Output: text, log lines, the progress line. Input is in console_input.c. */
#include "runtime/console/console.h"

#include <stdarg.h>
#include <string.h>

#include "runtime/console/console_input.h"
#include "runtime/console/console_json.h"
#include "runtime/text/format_text.h"

enum {
    PROGRESS_FIRST_MS = 500,
    PROGRESS_STEP_MS = 100,
    PROGRESS_BYTES = 120,
    STAMP_BYTES = 32,
    PLAIN_FIRST_MS = 1000,
    PLAIN_STEP_MS = 5000,
    PLAIN_STEP_PART = 8, /* of the time waited */
};

static struct {
    struct console_port port;
    bool in_line; /* something stands on the current line */
    enum console_style style;

    bool waiting; /* between the first console_progress() and its end */
    bool drawn;   /* the progress line is the current line */
    bool told;    /* where lines stay as they are: one was written of this wait */
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
    console_json_stop();
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
        console.in_line = text[i] != '\n' && text[i] != '\r';
    }
}

/* Select Graphic Rendition (ECMA-48, 8.3.117). What it takes no column for is not in_line. */
static void put_style(const char *codes)
{
    for (; *codes != '\0' && console.port.putc != NULL; codes++) {
        console.port.putc(*codes);
    }
}

void console_style(enum console_style style)
{
    static const char *const codes[] = {
        [CONSOLE_NORMAL] = "",       [CONSOLE_DIM] = "\33[2m",      [CONSOLE_STRONG] = "\33[1m",
        [CONSOLE_REPLY] = "\33[36m", [CONSOLE_ERROR] = "\33[1;31m",
    };

    if (!console_is_terminal() || style == console.style) {
        return;
    }
    put_style(console.style != CONSOLE_NORMAL ? "\33[0m" : "");
    put_style(codes[style]);
    console.style = style;
}

/* Of a text that begins so, else `other`. */
static enum console_style style_of(const char *text, size_t bytes, enum console_style other)
{
    if (bytes != 0 && *text == '\n') {
        text++;
        bytes--;
    }
    return console_text_begins(text, bytes, "error:")     ? CONSOLE_ERROR
           : console_text_begins(text, bytes, "warning:") ? CONSOLE_STRONG
                                                          : other;
}

void console_speak_json(void)
{
    console_find_terminal(CONSOLE_PLAIN);
    console_json_start(put_text);
}

void console_write(const char *text, size_t bytes)
{
    if (console_is_json()) {
        console_json_write(text, bytes);
        return;
    }
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

__attribute__((format(printf, 1, 0))) static void print_args(const char *format, va_list args)
{
    char text[CONSOLE_PRINT_BYTES];
    size_t length = format_text_args(text, sizeof text, format, args);
    enum console_style style = console.style;

    length = length < sizeof text ? length : sizeof text - 1;
    console_style(style_of(text, length, style));
    console_write(text, length);
    console_style(style);
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

/* What is printed is also kept. JSON has its stamp and its end elsewhere. */
static void log_text(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        console.log[console.log_end++ % CONSOLE_LOG_BYTES] = text[i];
    }
    if (!console_is_json()) {
        console_write(text, bytes);
    }
}

void console_log(const char *format, ...)
{
    enum console_style style = console.style;
    char stamp[STAMP_BYTES], text[CONSOLE_PRINT_BYTES];
    uint64_t ms = console_millis();
    va_list args;
    size_t n;

    va_start(args, format);
    n = format_text_args(text, sizeof text, format, args);
    va_end(args);
    n = n < sizeof text ? n : sizeof text - 1;
    if (console.in_line && !console.drawn && !console_is_json()) {
        /* the progress line is ended by console_write() */
        put_text("\n", 1);
    }
    console_style(style_of(text, n, CONSOLE_DIM));
    log_text(stamp, format_text(stamp, sizeof stamp, "[%5llu.%03u] ",
                                (unsigned long long)(ms / 1000), (unsigned)(ms % 1000)));
    log_text(text, n);
    console_style(style);
    log_text("\n", 1);
    if (console_is_json()) {
        console_json_log(ms, text, n);
    }
}

void console_repeat_log(void)
{
    size_t at = console.log_end > CONSOLE_LOG_BYTES ? console.log_end - CONSOLE_LOG_BYTES : 0;
    enum console_style style = console.style;

    console_style(CONSOLE_DIM);
    if (at != 0) { /* from the next whole line on */
        while (at < console.log_end && console.log[at++ % CONSOLE_LOG_BYTES] != '\n') {
        }
    }
    for (; at < console.log_end; at++) {
        console_write(&console.log[at % CONSOLE_LOG_BYTES], 1);
    }
    console_style(style);
}

static unsigned percent_of(uint64_t done, uint64_t total)
{
    if (done >= total) {
        return 100;
    }
    return (unsigned)(total < UINT64_MAX / 100 ? done * 100 / total : done / (total / 100));
}

static size_t progress_text(char line[PROGRESS_BYTES], uint64_t ms)
{
    char done[FORMAT_NUMBER_BYTES];
    char total[FORMAT_NUMBER_BYTES];
    uint64_t waited = ms - console.wait_start_ms;
    size_t width = format_text(line, PROGRESS_BYTES, "[%5llu.%03u] %.40s %u %%",
                               (unsigned long long)(ms / 1000), (unsigned)(ms % 1000),
                               console.label, percent_of(console.done, console.total));
    if (console.counts_bytes) {
        width += format_text(line + width, PROGRESS_BYTES - width, ", %s of %s",
                             format_bytes(done, console.done), format_bytes(total, console.total));
        width += format_text(line + width, PROGRESS_BYTES - width, ", %s MB/s",
                             format_ratio(done, console.done, waited * 1000, 1));
    }
    if (console.done > 0 && console.done < console.total) {
        width += format_text(line + width, PROGRESS_BYTES - width, ", %s s left",
                             format_milli(done,
                                          waited * (console.total - console.done) / console.done,
                                          0));
    }
    return width;
}

/* Over the old text, with spaces where that was longer; where lines stay, as another one. */
static void draw_progress(uint64_t ms)
{
    enum console_style style = console.style;
    bool terminal = console_is_terminal();
    char line[PROGRESS_BYTES];
    size_t width;

    if (console_is_json()) {
        console_event_begin("'progress','percent':%u,'text':'",
                            percent_of(console.done, console.total));
        console_write(console.label, strlen(console.label));
        console_event_end();
        console.told = true;
        console.drawn_ms = ms;
        return;
    }
    width = progress_text(line, ms);
    if (console.in_line && !console.drawn) {
        put_text("\n", 1);
    }
    console_style(CONSOLE_DIM);
    put_text("\r", terminal);
    put_text(line, strlen(line));
    for (size_t i = width; i < console.drawn_width && console.drawn; i++) {
        put_text(" ", 1);
    }
    console_style(style);
    put_text("\n", !terminal);
    console.told = !terminal;
    console.drawn = terminal;
    console.drawn_width = width;
    console.drawn_ms = ms;
}

static bool is_due(uint64_t ms)
{
    uint64_t waited = ms - console.wait_start_ms, step = waited / PLAIN_STEP_PART;

    if (console_is_terminal()) {
        return waited >= PROGRESS_FIRST_MS && ms - console.drawn_ms >= PROGRESS_STEP_MS;
    }
    return waited >= PLAIN_FIRST_MS &&
           (!console.told ||
            ms - console.drawn_ms >= (step > PLAIN_STEP_MS ? step : PLAIN_STEP_MS));
}

static void show_progress(const char *label, uint64_t done, uint64_t total, bool counts_bytes)
{
    uint64_t ms = console_millis();

    if (console.waiting && label != console.label && done < console.done) {
        console_progress_end();
    }
    if (!console.waiting) {
        console.waiting = true;
        console.wait_start_ms = ms;
        console.drawn_ms = 0;
        console.told = false;
    }
    console.label = label;
    console.done = done;
    console.total = total;
    console.counts_bytes = counts_bytes;
    if (is_due(ms)) {
        draw_progress(ms);
    }
}

void console_progress(const char *label, uint64_t done, uint64_t total)
{
    show_progress(label, done, total, true);
}

bool console_progress_step(void *context, const char *label, uint64_t done, uint64_t total)
{
    (void)context;
    console_progress(label, done, total);
    return !console_aborted();
}

void console_progress_share(const char *label, uint64_t done, uint64_t total)
{
    show_progress(label, done, total, false);
}

void console_progress_end(void)
{
    if (console.drawn || console.told) {
        draw_progress(console_millis());
        put_text("\n", console.drawn);
    }
    console.drawn = false;
    console.told = false;
    console.waiting = false;
}
