/* Input: a ring that fills while the machine works, and the editing of one line. */
#include "runtime/console_input.h"

#include <assert.h>
#include <string.h>

#include "runtime/utf8.h"

enum control {
    CTRL_C = 3, CTRL_D = 4, BACKSPACE = 8, LINE_FEED = 10, RETURN = 13, CTRL_U = 21, CTRL_W = 23,
    ESCAPE = 27, SPACE = 32, DELETE = 127
};

static_assert((CONSOLE_RING_BYTES & (CONSOLE_RING_BYTES - 1)) == 0, "positions wrap freely");

static struct {
    int (*getc)(void);
    void (*idle)(void);
    bool echo;
    bool reading;  /* console_read_line() takes Ctrl-C in its turn */
    bool aborted;
    bool closed;
    bool after_cr; /* the LF of a CR LF is not a line of its own */
    unsigned head, tail; /* counts of bytes taken and put; they differ by at most the size */
    uint8_t ring[CONSOLE_RING_BYTES];
} input;

void console_input_init(const struct console_port *port)
{
    memset(&input, 0, sizeof input);
    input.getc = port->getc;
    input.idle = port->idle;
    input.echo = port->echo;
}

void console_poll(void)
{
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
    return input.aborted;
}

bool console_has_input(void)
{
    console_poll();
    return input.head != input.tail;
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

/* ---- one line ---- */

struct editor {
    char *line;
    size_t max, n;
    bool too_long;
    bool finished;
    enum err result;
    enum { TEXT, AFTER_ESCAPE, IN_SEQUENCE, LAST_OF_SEQUENCE } state;
    struct utf8_writer utf8; /* makes characters of bytes, for append() */
};

static void echo(const char *text, size_t bytes)
{
    if (input.echo) {
        console_write(text, bytes);
    }
}

static bool within(uint32_t code, uint32_t low, uint32_t high)
{
    return code >= low && code <= high;
}

/* Columns a character takes on a terminal: combining marks none, East Asian wide forms and
 * pictures two. By block, after Unicode's EastAsianWidth.txt. */
static unsigned columns_of(uint32_t code)
{
    if (within(code, 0x300, 0x36f) || within(code, 0x200b, 0x200f) ||
        within(code, 0xfe00, 0xfe0f)) {
        return 0;
    }
    if (within(code, 0x1100, 0x115f) || within(code, 0x2e80, 0xa4cf) ||
        within(code, 0xac00, 0xd7a3) || within(code, 0xf900, 0xfaff) ||
        within(code, 0xfe30, 0xfe6f) || within(code, 0xff00, 0xff60) ||
        within(code, 0xffe0, 0xffe6) || within(code, 0x1f300, 0x1f64f) ||
        within(code, 0x1f680, 0x1f6ff) || within(code, 0x1f900, 0x1f9ff) ||
        within(code, 0x20000, 0x3fffd)) {
        return 2;
    }
    return 1;
}

/* One whole character, from the UTF-8 writer. */
static void append(void *context, const char *text, size_t bytes)
{
    struct editor *e = context;
    uint32_t code = utf8_decode((const uint8_t *)text, (int)bytes);

    if (within(code, 0x80, 0x9f)) { /* C1 controls; those below 0x20 do not come here */
        return;
    }
    if (e->too_long || bytes >= e->max - e->n) {
        e->too_long = true;
        return;
    }
    memcpy(e->line + e->n, text, bytes);
    e->n += bytes;
    echo(text, bytes);
}

/* Take back the last character, on the screen too. */
static void erase_character(struct editor *e)
{
    size_t start = e->n - 1;

    while (start > 0 && ((uint8_t)e->line[start] & 0xc0) == 0x80) {
        start--;
    }
    for (unsigned i = columns_of(utf8_decode((uint8_t *)e->line + start, (int)(e->n - start)));
         i > 0; i--) {
        echo("\b \b", 3);
    }
    e->n = start;
}

/* Of a line that is too long only its beginning is there, so taking back characters of its end
 * would lie; starting again is all that remains. */
static void erase(struct editor *e, int control)
{
    if (control == CTRL_U) {
        while (e->n > 0) {
            erase_character(e);
        }
        e->too_long = false;
    } else if (!e->too_long && control == CTRL_W) {
        while (e->n > 0 && e->line[e->n - 1] == ' ') {
            erase_character(e);
        }
        while (e->n > 0 && e->line[e->n - 1] != ' ') {
            erase_character(e);
        }
    } else if (!e->too_long && e->n > 0) {
        erase_character(e);
    }
}

static void finish(struct editor *e, enum err result, const char *last_echo)
{
    e->finished = true;
    e->result = result == ERR_OK && e->too_long ? ERR_TOO_LONG : result;
    echo(last_echo, strlen(last_echo));
}

static void take_control(struct editor *e, int control)
{
    utf8_writer_flush(&e->utf8);
    switch (control) {
    case RETURN:
        input.after_cr = true;
        finish(e, ERR_OK, "\n");
        break;
    case LINE_FEED:
        finish(e, ERR_OK, "\n");
        break;
    case CTRL_C:
        finish(e, ERR_ABORTED, "^C\n");
        break;
    case CTRL_D:
        if (e->n == 0 && !e->too_long) {
            finish(e, ERR_NO_DEVICE, "\n");
        }
        break;
    case BACKSPACE:
    case DELETE:
    case CTRL_U:
    case CTRL_W:
        erase(e, control);
        break;
    case ESCAPE:
        e->state = AFTER_ESCAPE;
        break;
    default: /* tab, bell and the rest */
        break;
    }
}

/* A printable byte inside an escape sequence (ECMA-48): ESC [ parameters final, ESC O final, as
 * the function keys send them, or ESC and one byte. */
static void skip_sequence(struct editor *e, int byte)
{
    if (e->state == AFTER_ESCAPE && byte == '[') {
        e->state = IN_SEQUENCE;
    } else if (e->state == AFTER_ESCAPE && byte == 'O') {
        e->state = LAST_OF_SEQUENCE;
    } else if (e->state != IN_SEQUENCE || byte >= '@') {
        e->state = TEXT;
    }
}

static void take_byte(struct editor *e, int byte)
{
    bool second = byte == LINE_FEED && input.after_cr;
    char c = (char)byte;

    input.after_cr = false;
    if (second) {
        return;
    }
    if (byte < SPACE || byte == DELETE) { /* a control byte ends any sequence */
        e->state = TEXT;
        take_control(e, byte);
    } else if (e->state != TEXT && byte < 0x80) {
        skip_sequence(e, byte);
    } else {
        e->state = TEXT;
        utf8_writer_put(&e->utf8, &c, 1);
    }
}

enum err console_read_line(char *line, size_t max, size_t *bytes)
{
    struct editor e = { .line = line, .max = max, .state = TEXT };

    assert(max >= 1);
    e.utf8 = (struct utf8_writer) { .write = append, .context = &e };
    input.aborted = false;
    input.reading = true;
    while (!e.finished) {
        int byte = wait_byte();

        if (byte == CONSOLE_CLOSED) {
            utf8_writer_flush(&e.utf8);
            finish(&e, e.n > 0 || e.too_long ? ERR_OK : ERR_NO_DEVICE, "");
        } else {
            take_byte(&e, byte);
        }
    }
    input.reading = false;
    take_interrupts();
    *bytes = e.result == ERR_OK ? e.n : 0;
    line[*bytes] = '\0';
    return e.result;
}
