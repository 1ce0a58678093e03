/* Output: text and log lines. Progress is in console_progress.c, input in console_input.c. */
#include "runtime/console/console.h"

#include <stdarg.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/console/console_json.h"
#include "runtime/console/console_private.h"
#include "runtime/text/format_text.h"

enum { STAMP_BYTES = 32 };

static bool has_screen(const struct console *c)
{
    return c->platform != NULL && c->platform->screen.columns != 0;
}

void console_refresh(const struct console *c, bool now)
{
    if (has_screen(c)) {
        c->platform->screen.refresh(c->platform->screen.context, now);
    }
}

static void show_char(const struct console *c, char byte)
{
    if (has_screen(c)) {
        c->platform->screen.show(c->platform->screen.context, byte);
    }
}

/* A zeroed console has no device yet: text written to it is lost. */
static void put_char(struct console *c, char byte)
{
    if (c->platform == NULL) {
        return;
    }
    c->platform->console.putc(c->platform->console.context, byte);
    show_char(c, byte);
}

static void put(struct console *c, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\n' && c->serial) {
            put_char(c, '\r');
        }
        put_char(c, text[i]);
        c->in_line = text[i] != '\n' && text[i] != '\r';
    }
}

void console_put(struct console *c, const char *text, size_t bytes)
{
    put(c, text, bytes);
    if (!c->in_line) {
        word_wrap_begin_row(&c->wrap);
    }
}

/* Write control sequences, which have no width, so in_line stays unchanged. */
static void put_codes(struct console *c, const char *codes)
{
    for (; *codes != '\0'; codes++) {
        put_char(c, *codes);
    }
}

void console_put_sequence(struct console *c, const char *sequence)
{
    put_codes(c, sequence);
    c->in_line = false;
    word_wrap_begin_row(&c->wrap);
}

/* Send Select Graphic Rendition (ECMA-48, 8.3.117) to a display and, if the far end is a terminal,
 * to it. A word with two styles counts as two words when rows are wrapped. */
static void put_style(struct console *c, const char *codes)
{
    if (!console_is_terminal(c)) {
        for (; *codes != '\0'; codes++) {
            show_char(c, *codes);
        }
        return;
    }
    put_codes(c, codes);
    word_wrap_begin_word(&c->wrap);
}

void console_style(struct console *c, enum console_style style)
{
    static const char *const codes[] = {
        [CONSOLE_NORMAL] = "",       [CONSOLE_DIM] = "\33[2m",      [CONSOLE_STRONG] = "\33[1m",
        [CONSOLE_REPLY] = "\33[36m", [CONSOLE_ERROR] = "\33[1;31m",
    };

    if ((!console_is_terminal(c) && !has_screen(c)) || c->json.on || style == c->style) {
        return;
    }
    if (c->style != CONSOLE_NORMAL) {
        put_style(c, "\33[0m");
    }
    put_style(c, codes[style]);
    c->style = style;
}

/* Return the style of a text that begins with "error:" or "warning:", otherwise `other`. */
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

/* Write one whole character of text that may come from anybody. */
static void put_shown(void *context, const char *text, size_t bytes)
{
    struct console *c = context;

    word_wrap_put(&c->wrap, text, bytes);
}

static void put_wrapped(void *context, const char *text, size_t bytes)
{
    put(context, text, bytes);
}

void console_open(struct console *c, const struct platform *platform,
                  const struct console_setup *setup)
{
    memset(c, 0, sizeof *c);
    c->platform = platform;
    c->serial = setup->serial;
    c->shown.write = put_shown;
    c->shown.context = c;
    c->wrap.write = put_wrapped;
    c->wrap.context = c;
    c->input.editor.write = console_put_editor;
    c->input.editor.context = c;
    c->input.editor.echo = setup->echo;
}

void console_to_log(struct console *c, bool on)
{
    const struct platform *p = c->platform;

    if (p != NULL && p->console.to_log != NULL && !c->json.on) {
        p->console.to_log(p->console.context, on);
    }
}

/* Erase the progress line, which takes several rows if the window was made narrower. */
void console_progress_erase(struct console *c)
{
    uint32_t columns = line_editor_columns(&c->input.editor);
    char up[16];

    if (!c->wait.drawn) {
        return;
    }
    c->wait.drawn = false;
    console_to_log(c, true);
    if (c->wait.drawn_width > columns) {
        format_text(up, sizeof up, "\33[%uA", (unsigned)((c->wait.drawn_width - 1) / columns));
        console_put_sequence(c, up);
    }
    console_put_sequence(c, "\r\33[J"); /* erase to the end of the screen (ED) */
    console_to_log(c, false);
}

static uint32_t wrap_columns(const struct console *c)
{
    const struct line_editor *e = &c->input.editor;

    if (!e->terminal || e->columns == 0 || c->whole_lines) {
        return 0;
    }
    return line_editor_columns(e);
}

void console_write(struct console *c, const char *text, size_t bytes)
{
    if (c->json.on) {
        console_json_write(c, text, bytes);
    } else if (bytes > 0 && c->platform != NULL) {
        console_progress_erase(c);
        c->wrap.columns = wrap_columns(c);
        shown_text_put(&c->shown, text, bytes);
    }
}

void console_whole_lines(struct console *c, bool on)
{
    c->whole_lines = on;
}

void console_put_editor(void *context, const char *text, size_t bytes)
{
    struct console *c = context;

    shown_text_flush(&c->shown);
    console_progress_erase(c);
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
    size_t all = format_line_args(text, sizeof text, format, args);
    size_t length = min_size(all, sizeof text - 1);
    enum console_style style = c->style, look = style_of(text, length, style);
    bool is_log = look == CONSOLE_ERROR || look == CONSOLE_STRONG;

    if (length < all && format[strlen(format) - 1] == '\n') {
        text[length - 1] = '\n'; /* a text that is cut ends its line nevertheless */
    }
    if (is_log) {
        console_to_log(c, true);
    }
    console_style(c, look);
    console_write(c, text, length);
    console_style(c, style);
    if (is_log) {
        console_to_log(c, false);
    }
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

/* Print and keep log text. In JSON, other functions write the time and the end of the line. */
static void log_text(struct console *c, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        c->log[c->log_end++ % CONSOLE_LOG_BYTES] = text[i];
    }
    if (!c->json.on) {
        console_write(c, text, bytes);
    }
}

static void begin_log_line(struct console *c)
{
    if (c->json.on || c->platform == NULL) {
        return;
    }
    shown_text_flush(&c->shown);
    console_progress_erase(c);
    if (c->input.editing && !c->input.left) {
        c->input.left = true;
        line_editor_leave(&c->input.editor);
    }
    if (c->in_line) {
        console_put(c, "\n", 1);
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
    n = min_size(format_line_args(text, sizeof text, format, args), sizeof text - 1);
    va_end(args);
    console_look_for_answer(c);
    begin_log_line(c);
    console_whole_lines(c, true);
    console_to_log(c, true);
    console_style(c, style_of(text, n, CONSOLE_DIM));
    log_text(c, stamp,
             format_text(stamp, sizeof stamp, "[%5llu.%03u] ", (unsigned long long)(ms / 1000),
                         (unsigned)(ms % 1000)));
    log_text(c, text, n);
    console_style(c, style);
    log_text(c, "\n", 1);
    console_to_log(c, false);
    console_whole_lines(c, false);
    if (c->json.on) {
        console_json_log(c, ms, text, n);
    }
    console_refresh(c, true);
}

void console_forget(struct console *c)
{
    static const char erase[] =
        "\33[H\33[2J\33[3J"; /* CUP and ED; 3 clears the scrollback, as in xterm */

    console_event_end(c);
    console_progress_erase(c);
    line_history_clear(&c->input.editor.history);
    console_frames_forget(&c->json.frames);
    if (console_is_terminal(c) && !c->json.on) {
        console_put_sequence(c, erase);
    } else {
        for (const char *at = erase; *at != '\0'; at++) {
            show_char(c, *at);
        }
    }
    console_refresh(c, true);
}

void console_repeat_log(struct console *c)
{
    size_t at = max_size(c->log_end, CONSOLE_LOG_BYTES) - CONSOLE_LOG_BYTES;
    enum console_style style = c->style;

    console_whole_lines(c, true);
    console_style(c, CONSOLE_DIM);
    if (at != 0) { /* skip the rest of a line whose beginning is lost */
        while (at < c->log_end && c->log[at++ % CONSOLE_LOG_BYTES] != '\n') {
        }
    }
    for (; at < c->log_end; at++) {
        console_write(c, &c->log[at % CONSOLE_LOG_BYTES], 1);
    }
    console_style(c, style);
    console_whole_lines(c, false);
}
