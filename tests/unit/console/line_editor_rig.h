/* The line editor at a terminal that obeys its control sequences: a VT100 with deferred wrap, like
 * xterm, PuTTY and the Linux console. */
#ifndef INGOT_TESTS_UNIT_LINE_EDITOR_RIG_H
#define INGOT_TESTS_UNIT_LINE_EDITOR_RIG_H

#include <string.h>

#include "runtime/console/line_editor.h"
#include "runtime/text/char_width.h"
#include "tests/unit/tap.h"

enum { MAX_ROWS = 600, MAX_COLUMNS = 120, MAX_LINE = 700 };

static struct terminal {
    uint32_t columns;
    uint32_t row, column;
    bool wrap_pending;
    uint32_t saved_row, saved_column;
    uint32_t cells[MAX_ROWS][MAX_COLUMNS]; /* 0: blank; 1: right half of a wide character */
    char sequence[16];
    size_t n_sequence;
    struct utf8_writer utf8;
    unsigned asked;   /* for the cursor's position */
    unsigned pastes;  /* how often bracketed paste was turned on */
    unsigned escapes; /* sequences seen */
} term;

static inline void clear_from(uint32_t row, uint32_t column)
{
    memset(&term.cells[row][column], 0, (MAX_COLUMNS - column) * sizeof term.cells[0][0]);
    for (row++; row < MAX_ROWS; row++) {
        memset(term.cells[row], 0, sizeof term.cells[row]);
    }
}

static inline void obey(const char *sequence)
{
    size_t n = strlen(sequence);
    uint32_t count = 0;

    term.escapes++;
    for (const char *s = sequence + 1; *s >= '0' && *s <= '9'; s++) {
        count = count * 10 + (uint32_t)(*s - '0');
    }
    term.wrap_pending = false;
    switch (sequence[n - 1]) {
    case '7':
        term.saved_row = term.row;
        term.saved_column = term.column;
        break;
    case '8':
        term.row = term.saved_row;
        term.column = term.saved_column;
        break;
    case 'A': term.row -= count < term.row ? count : term.row; break;
    case 'B': term.row += count; break;
    case 'C':
        term.column += count;
        term.column = term.column < term.columns ? term.column : term.columns - 1;
        break;
    case 'D': term.column -= count < term.column ? count : term.column; break;
    case 'K':
        memset(&term.cells[term.row][term.column], 0,
               (MAX_COLUMNS - term.column) * sizeof term.cells[0][0]);
        break;
    case 'H':
        term.row = 0;
        term.column = 0;
        break;
    case 'J': clear_from(count == 2 ? 0 : term.row, count == 2 ? 0 : term.column); break;
    case 'm': break; /* colours */
    case 'n': term.asked++; break;
    case 'h': term.pastes += strcmp(sequence, "[?2004h") == 0; break;
    default: OK(false, "the terminal knows ESC %s", sequence);
    }
}

static inline void show(void *context, const char *text, size_t bytes)
{
    uint32_t code = utf8_decode((const uint8_t *)text, (int)bytes), width = char_width(code);

    (void)context;
    if (width == 0) {
        return;
    }
    if (term.wrap_pending || term.column + width > term.columns) {
        term.row++;
        term.column = 0;
    }
    term.cells[term.row][term.column] = code;
    if (width == 2) {
        term.cells[term.row][term.column + 1] = 1;
    }
    term.column += width;
    term.wrap_pending = term.column == term.columns;
    term.column -= term.wrap_pending;
}

static inline void terminal_take(char c)
{
    if (term.n_sequence != 0) {
        term.sequence[term.n_sequence++ - 1] = c;
        term.sequence[term.n_sequence - 1] = '\0';
        if ((c < '@' || (c == '[' && term.n_sequence == 2)) && c != '7' && c != '8') {
            return;
        }
        if ((c == '7' || c == '8') && term.n_sequence != 2) {
            return;
        }
        term.n_sequence = 0;
        obey(term.sequence);
        return;
    }
    switch (c) {
    case 27: term.n_sequence = 1; break;
    case '\r':
        term.column = 0;
        term.wrap_pending = false;
        break;
    case '\n':
        term.row++;
        term.column = 0;
        term.wrap_pending = false;
        break;
    case '\t':
        term.column = (term.column / 8 + 1) * 8;
        term.column = term.column < term.columns ? term.column : term.columns - 1;
        break;
    case '\b':
        term.column -= term.column > 0;
        term.wrap_pending = false;
        break;
    default: utf8_writer_put(&term.utf8, &c, 1);
    }
}

static inline void write_out(void *context, const char *text, size_t bytes)
{
    (void)context;
    for (size_t i = 0; i < bytes; i++) {
        terminal_take(text[i]);
    }
}

static inline void terminal_open(uint32_t columns)
{
    memset(&term, 0, sizeof term);
    term.columns = columns;
    term.utf8 = (struct utf8_writer){ .write = show };
}

static struct line_editor editor;
static char line[4 * MAX_LINE];

static inline enum line_event type(const char *keys)
{
    enum line_event event = LINE_MORE;

    while (*keys != '\0' && event == LINE_MORE) {
        event = line_editor_take(&editor, (uint8_t)*keys++);
    }
    return event;
}

static inline void open_editor(uint32_t columns, bool terminal)
{
    terminal_open(columns);
    memset(&editor, 0, sizeof editor);
    editor.write = write_out;
    editor.echo = true;
    editor.terminal = terminal;
    editor.columns = columns;
    line_editor_begin(&editor, "> ", line, sizeof line);
}

#endif
