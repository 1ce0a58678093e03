/* Input: a ring that fills while the machine works, and lines read from it. */

#include <assert.h>
#include <string.h>

#include "runtime/console/console_private.h"
#include "runtime/text/plural.h"

enum { CTRL_C = 3, CTRL_D = 4, ESCAPE = 27, ANSWER_END = 'R' };

static_assert((CONSOLE_RING_BYTES & (CONSOLE_RING_BYTES - 1)) == 0, "positions wrap freely");

bool console_is_terminal(const struct console *c)
{
    return c->input.editor.terminal;
}

void console_set_columns(struct console *c, uint32_t columns)
{
    c->input.editor.columns = columns;
}

/* Find a terminal's answer anywhere in the ring, and remove it. */
static bool take_answer(struct console *c)
{
    char text[LINE_SEQUENCE_BYTES];

    for (unsigned from = c->input.head; from != c->input.tail; from++) {
        unsigned at = from, n = 0;

        if (c->input.ring[at++ % CONSOLE_RING_BYTES] != ESCAPE) {
            continue;
        }
        while (at != c->input.tail && n + 1 < sizeof text) {
            text[n] = (char)c->input.ring[at++ % CONSOLE_RING_BYTES];
            if (text[n++] == ANSWER_END) {
                break;
            }
        }
        text[n] = '\0';
        if (!line_editor_take_answer(&c->input.editor, text)) {
            continue;
        }
        while (at != c->input.tail) {
            c->input.ring[from++ % CONSOLE_RING_BYTES] = c->input.ring[at++ % CONSOLE_RING_BYTES];
        }
        c->input.tail = from;
        return true;
    }
    return false;
}

void console_poll(struct console *c)
{
    const struct platform_console *p;
    struct console_input *in = &c->input;

    if (c->platform == NULL) {
        return;
    }
    p = &c->platform->console;
    in->editor.most_columns = c->platform->screen.columns;
    platform_alive(&c->platform->power);
    console_refresh(c, false);
    while (!in->closed && in->tail - in->head < CONSOLE_RING_BYTES) {
        int byte = p->getc(p->context);

        if (byte < 0) {
            in->closed = byte == CONSOLE_CLOSED;
            return;
        }
        if (byte == CTRL_C && !in->reading) {
            in->aborted = true;
            continue;
        }
        in->ring[in->tail++ % CONSOLE_RING_BYTES] = (uint8_t)byte;
        if (c->json.on && !in->reading && (byte == '\n' || byte == '\r')) {
            in->aborted |= console_line_cancels(c);
        }
        if (byte == ANSWER_END && !in->reading && (console_is_terminal(c) || in->asked)) {
            (void)take_answer(c); /* a terminal's answer, or the new size of its window */
        }
    }
}

void console_look_for_answer(struct console *c)
{
    if (c->input.asked && !console_is_terminal(c)) {
        console_poll(c);
    }
}

bool console_aborted(struct console *c)
{
    const struct platform_console *p;

    if (c->platform == NULL) {
        return false;
    }
    p = &c->platform->console;
    console_poll(c);
    if (p->interrupted != NULL && p->interrupted(p->context)) {
        c->input.aborted = true; /* a Ctrl-C for which the ring had no room */
    }
    return c->input.aborted;
}

bool console_has_input(struct console *c)
{
    console_poll(c);
    return c->input.head != c->input.tail;
}

void console_find_terminal(struct console *c, enum console_terminal kind)
{
    c->input.editor.plain = kind == CONSOLE_PLAIN;
    c->input.editor.terminal = kind == CONSOLE_VT;
    c->input.asked = kind == CONSOLE_AUTO && c->input.editor.echo;
    if (c->input.asked) {
        line_editor_ask_width(&c->input.editor);
        console_put(c, "\r", 1); /* if the far end shows the question as text, overwrite it */
    }
}

static void sleep_a_while(const struct console *c)
{
    const struct platform_console *p = &c->platform->console;

    if (c->input.silence_ms != 0 && p->nap != NULL) {
        p->nap(p->context);
    } else if (p->idle != NULL) {
        p->idle(p->context);
    }
}

/* Return the next byte, CONSOLE_CLOSED, or CONSOLE_NO_BYTE if none came within silence_ms. */
static int wait_byte(struct console *c)
{
    uint64_t start = console_millis(c);

    while (!console_has_input(c)) {
        if (c->input.closed) {
            return CONSOLE_CLOSED;
        }
        if (c->input.silence_ms != 0 && console_millis(c) - start >= c->input.silence_ms) {
            return CONSOLE_NO_BYTE;
        }
        console_refresh(c, true);
        sleep_a_while(c);
    }
    return c->input.ring[c->input.head++ % CONSOLE_RING_BYTES];
}

/* A Ctrl-C that arrives after the line is meant for the work that the line starts. */
static void take_interrupts(struct console *c)
{
    unsigned kept = c->input.head;

    for (unsigned i = c->input.head; i != c->input.tail; i++) {
        uint8_t byte = c->input.ring[i % CONSOLE_RING_BYTES];

        if (byte == CTRL_C) {
            c->input.aborted = true;
        } else {
            c->input.ring[kept++ % CONSOLE_RING_BYTES] = byte;
        }
    }
    c->input.tail = kept;
}

static void report_lost(struct console *c)
{
    const struct platform_console *p = &c->platform->console;
    uint32_t bytes;

    if (p->lost == NULL) {
        return;
    }
    bytes = p->lost(p->context);
    if (bytes != 0) {
        console_log(c,
                    "warning: at least %u %s of input were lost: send slower, or use a terminal "
                    "that obeys XON/XOFF",
                    (unsigned)bytes, plural((unsigned)bytes, "byte", "bytes"));
    }
}

static enum line_event edit_line(struct console *c)
{
    enum line_event event = LINE_MORE;

    while (event == LINE_MORE) {
        int byte = wait_byte(c);

        c->input.editor.more = c->input.head != c->input.tail;
        event = byte == CONSOLE_CLOSED ? line_editor_close(&c->input.editor)
                                       : line_editor_take(&c->input.editor, byte);
    }
    return event;
}

/* Collect a line from a program in the editor's buffer. */
static enum line_event collect_line(struct console *c)
{
    struct line_editor *e = &c->input.editor;

    e->n = 0;
    e->too_long = false;
    for (;;) {
        int byte = wait_byte(c);

        if (byte == CONSOLE_NO_BYTE) {
            return LINE_SILENT;
        }
        if (byte == CTRL_C) {
            return LINE_ABORTED;
        }
        if (e->n == 0 && (byte == CTRL_D || byte == CONSOLE_CLOSED)) {
            return LINE_END;
        }
        if (byte == '\n' || byte == '\r' || byte == CONSOLE_CLOSED) {
            if (e->n != 0) {
                return e->too_long ? LINE_TOO_LONG : LINE_FINISHED;
            }
        } else if (e->n + 1 < e->max) {
            e->line[e->n++] = (char)byte;
        } else {
            e->too_long = true;
        }
    }
}

void console_resume_line(struct console *c)
{
    if (!c->input.left) {
        return;
    }
    c->input.left = false;
    line_editor_resume(&c->input.editor);
    console_refresh(c, true);
}

void console_set_silence(struct console *c, uint32_t ms)
{
    c->input.silence_ms = ms;
}

bool console_is_closed(const struct console *c)
{
    return c->input.closed;
}

enum err console_read_line(struct console *c, const char *prompt, char *line, size_t max,
                           size_t *bytes)
{
    static const enum err results[] = {
        [LINE_FINISHED] = ERR_OK,   [LINE_TOO_LONG] = ERR_TOO_LONG, [LINE_ABORTED] = ERR_ABORTED,
        [LINE_END] = ERR_NO_DEVICE, [LINE_SILENT] = ERR_TIMEOUT,
    };
    enum err result;

    c->input.aborted = false;
    c->input.reading = true;
    if (prompt != NULL) {
        if (c->input.editor.terminal) {
            line_editor_ask_width(&c->input.editor); /* the width may have changed since the last
                                                      * line */
        }
        line_editor_begin(&c->input.editor, prompt, line, max);
        c->input.editing = true;
        result = results[edit_line(c)];
        c->input.editing = false;
    } else {
        c->input.editor.line = line;
        c->input.editor.max = max;
        result = results[collect_line(c)];
    }
    c->input.reading = false;
    take_interrupts(c);
    report_lost(c);
    *bytes = result == ERR_OK || (result == ERR_TOO_LONG && prompt == NULL) ? c->input.editor.n : 0;
    line[*bytes] = '\0';
    return result;
}
