/* Compute where each character of the line is, and write the control sequences (ECMA-48, section
 * 8.3) that draw it. This code ends rows itself, one column before the terminal would wrap, so
 * that the terminal's way of wrapping does not matter. */
#include "runtime/console/line_screen.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/text/char_width.h"
#include "runtime/text/format_text.h"

struct place {
    uint32_t row, column;
};

void line_screen_write(const struct line_editor *e, const char *text, size_t bytes)
{
    if (e->echo && bytes != 0) {
        e->write(e->context, text, bytes);
    }
}

void line_screen_text(const struct line_editor *e, const char *text, size_t bytes)
{
    const char *tab;

    while ((tab = memchr(text, '\t', bytes)) != NULL) {
        size_t before = (size_t)(tab - text);

        line_screen_write(e, text, before);
        line_screen_write(e, " ", 1);
        text = tab + 1;
        bytes -= before + 1;
    }
    line_screen_write(e, text, bytes);
}

void line_screen_prompt(const struct line_editor *e)
{
    if (e->terminal && e->prompt[0] != '\0') {
        line_screen_write(e, "\33[1m", 4); /* SGR: bold, and back to normal */
    }
    line_screen_write(e, e->prompt, strlen(e->prompt));
    if (e->terminal && e->prompt[0] != '\0') {
        line_screen_write(e, "\33[0m", 4);
    }
}

/* Write ESC [ n final, or nothing if n == 0. */
static void write_sequence(const struct line_editor *e, uint32_t n, char final)
{
    char text[16];

    if (n != 0) {
        line_screen_write(e, text, format_text(text, sizeof text, "\33[%u%c", (unsigned)n, final));
    }
}

static uint32_t usable_columns(uint32_t columns)
{
    return max_u32(columns, LINE_MIN_COLUMNS) - 1;
}

static size_t character_bytes(const char *text, size_t n)
{
    int bytes = utf8_check((const uint8_t *)text, n);

    return bytes > 0 ? (size_t)bytes : 1;
}

/* Return the position after the character at text, which is at place `at` of a terminal of this
 * width; the end of a row is the beginning of the next. Sets *early if the character did not fit
 * into the row of `at`. */
static struct place step(uint32_t columns, struct place at, const char *text, size_t bytes,
                         bool *early)
{
    uint32_t width = char_width(utf8_decode((const uint8_t *)text, (int)bytes));

    *early = false;
    if (*text == '\n') {
        return (struct place){ at.row + 1, 0 };
    }
    if (at.column + width > usable_columns(columns)) {
        *early = true;
        at = (struct place){ at.row + 1, 0 };
    }
    at.column += width;
    return at;
}

/* Write line[from, to), which begins at the place `at`; if not `draw`, only compute where it
 * ends. */
static struct place write_text(const struct line_editor *e, struct place at, size_t from, size_t to,
                               bool draw)
{
    uint32_t columns = line_editor_columns(e);

    while (from < to) {
        size_t bytes = character_bytes(e->line + from, e->n - from);
        bool early;

        at = step(columns, at, e->line + from, bytes, &early);
        if (draw && early) {
            line_screen_write(e, "\n", 1);
        }
        if (draw) {
            line_screen_text(e, e->line + from, bytes);
        }
        from += bytes;
    }
    return at;
}

static struct place first_place(const struct line_editor *e)
{
    return (struct place){ 0, (uint32_t)strlen(e->prompt) };
}

static struct place place_of(const struct line_editor *e, size_t at)
{
    return write_text(e, first_place(e), 0, at, false);
}

static void note_end(struct line_editor *e, struct place end)
{
    e->row = end.row;
    e->last_row = end.row;
    e->last_column = end.column;
}

/* Move the cursor from row `row` to a place, in any row. */
static void go_to(struct line_editor *e, uint32_t row, struct place to)
{
    if (to.row > row) {
        write_sequence(e, to.row - row, 'B');
    } else {
        write_sequence(e, row - to.row, 'A');
    }
    line_screen_write(e, "\r", 1);
    write_sequence(e, to.column, 'C');
    e->row = to.row;
}

void line_screen_draw(struct line_editor *e)
{
    struct place end;

    e->behind = false;
    write_sequence(e, e->row, 'A');
    line_screen_write(e, "\r\33[J", 4); /* erase to the end of the screen */
    line_screen_prompt(e);
    end = write_text(e, first_place(e), 0, e->n, true);
    note_end(e, end);
    if (e->cursor != e->n) {
        go_to(e, end.row, place_of(e, e->cursor));
    }
}

void line_screen_change(struct line_editor *e)
{
    e->behind = true;
    if (!e->more) {
        line_screen_draw(e);
    }
}

void line_screen_catch_up(struct line_editor *e)
{
    if (e->behind) {
        line_screen_draw(e);
    }
}

/* Return how many terminal rows of this width one row of the line takes. */
static uint32_t rows_of(uint32_t row_columns, uint32_t columns)
{
    return max_u32(1, (row_columns + columns - 1) / columns);
}

void line_screen_rewrap(struct line_editor *e, uint32_t columns)
{
    struct place at = first_place(e);
    uint32_t row = 0;

    if (e->behind) { /* the terminal shows an older line: e->row is the best that is known */
        line_screen_draw(e);
        return;
    }
    for (size_t from = 0; from < e->cursor;) {
        size_t bytes = character_bytes(e->line + from, e->n - from);
        bool early;
        struct place next = step(columns, at, e->line + from, bytes, &early);

        if (next.row != at.row) {
            row += rows_of(at.column, e->columns);
        }
        at = next;
        from += bytes;
    }
    e->row = row + at.column / e->columns;
    line_screen_draw(e);
}

void line_screen_move(struct line_editor *e)
{
    if (!e->behind) {
        go_to(e, e->row, place_of(e, e->cursor));
    }
}

void line_screen_append(struct line_editor *e, size_t bytes)
{
    struct place end = { e->last_row, e->last_column };

    if (!e->terminal) {
        line_screen_text(e, e->line + e->n - bytes, bytes);
        return;
    }
    if (!e->behind) {
        note_end(e, write_text(e, end, e->n - bytes, e->n, true));
    }
}

void line_screen_take_back(struct line_editor *e, unsigned columns)
{
    if (e->terminal) {
        line_screen_change(e);
        return;
    }
    for (; columns > 0; columns--) {
        line_screen_write(e, "\b \b", 3);
    }
}

void line_screen_leave(struct line_editor *e, const char *mark)
{
    line_screen_catch_up(e);
    if (e->terminal) {
        write_sequence(e, e->last_row - e->row, 'B');
    }
    line_screen_write(e, mark, strlen(mark));
    line_screen_write(e, "\n", 1);
}
