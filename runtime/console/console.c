/* Output: text and log lines. Progress is in console_progress.c, input in console_input.c. */
#include "runtime/console/console.h"

#include <stdarg.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/console/console_json.h"
#include "runtime/console/console_private.h"
#include "runtime/text/format_text.h"

enum { STAMP_BYTES = 32 };

void console_open(struct console *c, const struct platform *platform,
                  const struct console_setup *setup)
{
    memset(c, 0, sizeof *c);
    c->platform = platform;
    c->serial = setup->serial;
    c->input.editor.write = console_write_to;
    c->input.editor.context = c;
    c->input.editor.echo = setup->echo;
}

/* A zeroed console has no device yet: what is written to it is lost. */
static void put_char(struct console *c, char byte)
{
    if (c->platform == NULL) {
        return;
    }
    c->platform->console.putc(c->platform->console.context, byte);
}

void console_put(struct console *c, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\n' && c->serial) {
            put_char(c, '\r');
        }
        put_char(c, text[i]);
        c->in_line = text[i] != '\n' && text[i] != '\r';
    }
}

/* Select Graphic Rendition (ECMA-48, 8.3.117). What it takes no column for is not in_line. */
static void put_style(struct console *c, const char *codes)
{
    for (; *codes != '\0'; codes++) {
        put_char(c, *codes);
    }
}

void console_style(struct console *c, enum console_style style)
{
    static const char *const codes[] = {
        [CONSOLE_NORMAL] = "",       [CONSOLE_DIM] = "\33[2m",      [CONSOLE_STRONG] = "\33[1m",
        [CONSOLE_REPLY] = "\33[36m", [CONSOLE_ERROR] = "\33[1;31m",
    };

    if (!console_is_terminal(c) || style == c->style) {
        return;
    }
    if (c->style != CONSOLE_NORMAL) {
        put_style(c, "\33[0m");
    }
    put_style(c, codes[style]);
    c->style = style;
}

/* Of a text that begins so, else `other`. */
static enum console_style style_of(const char *text, size_t bytes, enum console_style other)
{
    if (bytes != 0 && *text == '\n') {
        text++;
        bytes--;
    }
    if (console_text_begins(text, bytes, "error:")) {
        return CONSOLE_ERROR;
    }
    if (console_text_begins(text, bytes, "warning:")) {
        return CONSOLE_STRONG;
    }
    return other;
}

void console_speak_json(struct console *c)
{
    console_find_terminal(c, CONSOLE_PLAIN);
    console_json_start(c);
}

void console_speak_text(struct console *c)
{
    c->json.on = false;
}

void console_write(struct console *c, const char *text, size_t bytes)
{
    if (c->json.on) {
        console_json_write(c, text, bytes);
        return;
    }
    if (bytes > 0 && c->wait.drawn) {
        c->wait.drawn = false; /* the next step is drawn on a line of its own */
        console_put(c, "\n", 1);
    }
    console_put(c, text, bytes);
}

void console_write_to(void *context, const char *text, size_t bytes)
{
    console_write(context, text, bytes);
}

__attribute__((format(printf, 2, 0))) static void print_args(struct console *c, const char *format,
                                                             va_list args)
{
    char text[CONSOLE_PRINT_BYTES];
    size_t length = min_size(format_text_args(text, sizeof text, format, args), sizeof text - 1);
    enum console_style style = c->style;

    console_style(c, style_of(text, length, style));
    console_write(c, text, length);
    console_style(c, style);
}

void console_printf(struct console *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_args(c, format, args);
    va_end(args);
}

uint64_t console_millis(const struct console *c)
{
    const struct platform_clock *clock;
    uint64_t ticks;

    if (c->platform == NULL) {
        return 0;
    }
    clock = &c->platform->clock;
    ticks = platform_ticks(clock) - clock->start;
    return ticks / clock->hz * 1000 + ticks % clock->hz * 1000 / clock->hz;
}

void console_to_log(struct console *c, bool on)
{
    const struct platform *p = c->platform;

    if (p != NULL && p->console.to_log != NULL && !c->json.on) {
        p->console.to_log(p->console.context, on);
    }
}

/* What is printed is also kept. JSON has its stamp and its end elsewhere. */
static void log_text(struct console *c, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        c->log[c->log_end++ % CONSOLE_LOG_BYTES] = text[i];
    }
    if (!c->json.on) {
        console_write(c, text, bytes);
    }
}

void console_log(struct console *c, const char *format, ...)
{
    enum console_style style = c->style;
    char stamp[STAMP_BYTES], text[CONSOLE_PRINT_BYTES];
    uint64_t ms = console_millis(c);
    va_list args;
    size_t n;

    va_start(args, format);
    n = min_size(format_text_args(text, sizeof text, format, args), sizeof text - 1);
    va_end(args);
    if (c->in_line && !c->wait.drawn && !c->json.on) {
        console_put(c, "\n", 1); /* the progress line is ended by console_write() */
    }
    console_to_log(c, true);
    console_style(c, style_of(text, n, CONSOLE_DIM));
    log_text(c, stamp,
             format_text(stamp, sizeof stamp, "[%5llu.%03u] ", (unsigned long long)(ms / 1000),
                         (unsigned)(ms % 1000)));
    log_text(c, text, n);
    console_style(c, style);
    log_text(c, "\n", 1);
    console_to_log(c, false);
    if (c->json.on) {
        console_json_log(c, ms, text, n);
    }
}

void console_repeat_log(struct console *c)
{
    size_t at = max_size(c->log_end, CONSOLE_LOG_BYTES) - CONSOLE_LOG_BYTES;
    enum console_style style = c->style;

    console_style(c, CONSOLE_DIM);
    if (at != 0) { /* from the next whole line on */
        while (at < c->log_end && c->log[at++ % CONSOLE_LOG_BYTES] != '\n') {
        }
    }
    for (; at < c->log_end; at++) {
        console_write(c, &c->log[at % CONSOLE_LOG_BYTES], 1);
    }
    console_style(c, style);
}
