/* Input: a ring that fills while the machine works, and lines from it. */
#include "runtime/console/console_input.h"

#include <assert.h>
#include <string.h>

#include "board/board.h"
#include "runtime/console/line_editor.h"

enum { CTRL_C = 3, CTRL_D = 4, ESCAPE = 27 };

static_assert((CONSOLE_RING_BYTES & (CONSOLE_RING_BYTES - 1)) == 0, "positions wrap freely");

static struct {
    int (*getc)(void);
    void (*idle)(void);
    bool (*interrupted)(void);
    uint32_t (*lost)(void);
    bool reading; /* console_read_line() takes Ctrl-C in its turn */
    bool aborted;
    bool closed;
    unsigned head, tail; /* counts of bytes taken and put; they differ by at most the size */
    uint8_t ring[CONSOLE_RING_BYTES];
    struct line_editor editor;
} input;

void console_input_init(const struct console_port *port)
{
    memset(&input, 0, sizeof input);
    input.getc = port->getc;
    input.idle = port->idle;
    input.interrupted = port->interrupted;
    input.lost = port->lost;
    input.editor.write = console_write_to;
    input.editor.echo = port->echo;
}

bool console_is_terminal(void)
{
    return input.editor.terminal;
}

void console_poll(void)
{
    if (board.alive != NULL) {
        board.alive();
    }
    while (input.getc != NULL && !input.closed && input.tail - input.head < CONSOLE_RING_BYTES) {
        int c = input.getc();

        if (c < 0) {
            input.closed = c == CONSOLE_CLOSED;
            return;
        }
        if (c == CTRL_C && !input.reading) {
            input.aborted = true;
            continue;
        }
        input.ring[input.tail++ % CONSOLE_RING_BYTES] = (uint8_t)c;
    }
}

bool console_aborted(void)
{
    console_poll();
    if (input.interrupted != NULL && input.interrupted()) {
        input.aborted = true; /* behind more than the ring here holds */
    }
    return input.aborted;
}

bool console_has_input(void)
{
    console_poll();
    return input.head != input.tail;
}

/* Find a terminal's answer anywhere in the ring, and take it out. */
static bool take_answer(void)
{
    char text[LINE_SEQUENCE_BYTES];

    for (unsigned from = input.head; from != input.tail; from++) {
        unsigned at = from, n = 0;

        if (input.ring[at++ % CONSOLE_RING_BYTES] != ESCAPE) {
            continue;
        }
        while (at != input.tail && n + 1 < sizeof text) {
            text[n] = (char)input.ring[at++ % CONSOLE_RING_BYTES];
            if (text[n++] == 'R') {
                break;
            }
        }
        text[n] = '\0';
        if (!line_editor_take_answer(&input.editor, text)) {
            continue;
        }
        while (at != input.tail) {
            input.ring[from++ % CONSOLE_RING_BYTES] = input.ring[at++ % CONSOLE_RING_BYTES];
        }
        input.tail = from;
        return true;
    }
    return false;
}

void console_find_terminal(enum console_terminal kind)
{
    uint64_t start = console_millis();

    input.editor.plain = kind == CONSOLE_PLAIN;
    input.editor.terminal = kind == CONSOLE_VT;
    if (kind != CONSOLE_AUTO || !input.editor.echo) {
        return;
    }
    line_editor_ask_width(&input.editor);
    do {
        console_poll();
    } while (!take_answer() && !input.closed && console_millis() - start < CONSOLE_ANSWER_MS);
    console_write("\r", 1); /* over what shows of the question where nobody knows it */
}

/* The next byte, or CONSOLE_CLOSED. */
static int wait_byte(void)
{
    while (!console_has_input()) {
        if (input.closed || input.getc == NULL) {
            return CONSOLE_CLOSED;
        }
        if (input.idle != NULL) {
            input.idle();
        }
    }
    return input.ring[input.head++ % CONSOLE_RING_BYTES];
}

/* A Ctrl-C that arrived behind the line just read is meant for what the line starts. */
static void take_interrupts(void)
{
    unsigned kept = input.head;

    for (unsigned i = input.head; i != input.tail; i++) {
        uint8_t byte = input.ring[i % CONSOLE_RING_BYTES];

        if (byte == CTRL_C) {
            input.aborted = true;
        } else {
            input.ring[kept++ % CONSOLE_RING_BYTES] = byte;
        }
    }
    input.tail = kept;
}

static void report_lost(void)
{
    uint32_t bytes = input.lost != NULL ? input.lost() : 0;

    if (bytes != 0) {
        console_log("warning: %u bytes of input or more were lost: send slower, or use a terminal "
                    "that obeys XON/XOFF",
                    (unsigned)bytes);
    }
}

static enum line_event edit_line(void)
{
    enum line_event event = LINE_MORE;

    while (event == LINE_MORE) {
        int byte = wait_byte();

        event = byte == CONSOLE_CLOSED ? line_editor_close(&input.editor)
                                       : line_editor_take(&input.editor, byte);
    }
    return event;
}

/* The same of a program, for which the editor keeps the line. */
static enum line_event collect_line(void)
{
    struct line_editor *e = &input.editor;

    e->n = 0;
    e->too_long = false;
    for (;;) {
        int byte = wait_byte();

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

enum err console_read_line(const char *prompt, char *line, size_t max, size_t *bytes)
{
    static const enum err results[] = {
        [LINE_FINISHED] = ERR_OK,
        [LINE_TOO_LONG] = ERR_TOO_LONG,
        [LINE_ABORTED] = ERR_ABORTED,
        [LINE_END] = ERR_NO_DEVICE,
    };
    enum err result;

    input.aborted = false;
    input.reading = true;
    if (prompt != NULL) {
        if (input.editor.terminal) {
            line_editor_ask_width(&input.editor); /* it may be another since the last line */
        }
        line_editor_begin(&input.editor, prompt, line, max);
        result = results[edit_line()];
    } else {
        input.editor.line = line;
        input.editor.max = max;
        result = results[collect_line()];
    }
    input.reading = false;
    take_interrupts();
    report_lost();
    *bytes = result == ERR_OK ? input.editor.n : 0;
    line[*bytes] = '\0';
    return result;
}
