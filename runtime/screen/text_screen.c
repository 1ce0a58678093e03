#include "runtime/screen/text_screen.h"

#include "board/min_max.h"
#include "runtime/screen/text_screen_private.h"
#include "runtime/text/char_width.h"
#include "runtime/text/shown_text.h"
#include "runtime/text/utf8.h"

enum { ESCAPE = 27, TAB_COLUMNS = 8, REPLACEMENT = 0xfffd };

static const struct text_look ordinary = { .front = TEXT_GREY, .back = TEXT_BLACK };

size_t text_screen_bytes(uint32_t columns, uint32_t rows)
{
    return rows * (columns * sizeof(struct text_cell) + sizeof(struct text_row));
}

static uint32_t ring_row(const struct text_screen *t, uint32_t row)
{
    return (t->top + row) % t->rows;
}

static struct text_cell *cell_at(const struct text_screen *t, uint32_t row, uint32_t column)
{
    return &t->cells[ring_row(t, row) * t->columns + column];
}

const struct text_cell *text_screen_cell(const struct text_screen *t, uint32_t row, uint32_t column)
{
    return cell_at(t, row, column);
}

struct text_row *text_screen_changed(struct text_screen *t, uint32_t row)
{
    return &t->changed[ring_row(t, row)];
}

static void note_change(struct text_screen *t, uint32_t row, uint32_t from, uint32_t to)
{
    struct text_row *changed = text_screen_changed(t, row);

    if (changed->from == changed->to) {
        changed->from = (uint16_t)from;
        changed->to = (uint16_t)to;
        return;
    }
    changed->from = (uint16_t)min_u32(changed->from, from);
    changed->to = (uint16_t)max_u32(changed->to, to);
}

void text_screen_touch(struct text_screen *t, uint32_t row, uint32_t column)
{
    note_change(t, row, column, column + 1);
}

struct text_place text_screen_cursor(const struct text_screen *t)
{
    return (struct text_place){ t->at.row, min_u32(t->at.column, t->columns - 1) };
}

uint8_t text_screen_front(const struct text_look *look)
{
    uint8_t front = look->front;

    if (look->dim) {
        front = front == TEXT_GREY ? TEXT_DARK : front & 7;
    } else if (look->bold) {
        front |= 8;
    }
    return front;
}

uint8_t text_screen_back(const struct text_look *look)
{
    return look->back;
}

static struct text_cell cell_of(const struct text_screen *t, uint32_t code)
{
    uint8_t front = text_screen_front(&t->look), back = text_screen_back(&t->look);

    if (t->look.reversed) {
        return (struct text_cell){ code, back, front };
    }
    return (struct text_cell){ code, front, back };
}

void text_screen_blank(struct text_screen *t, uint32_t row, uint32_t from, uint32_t to)
{
    for (uint32_t column = from; column < to; column++) {
        *cell_at(t, row, column) = (struct text_cell){ ' ', ordinary.front, ordinary.back };
    }
    if (from < to) {
        note_change(t, row, from, to);
    }
}

void text_screen_open(struct text_screen *t, uint32_t columns, uint32_t rows, void *memory)
{
    *t = (struct text_screen){ .columns = columns, .rows = rows, .cells = memory };
    t->changed = (struct text_row *)(void *)(t->cells + (size_t)columns * rows);
    t->look = ordinary;
    for (uint32_t row = 0; row < rows; row++) {
        t->changed[row] = (struct text_row){ 0, 0, 0 };
        text_screen_blank(t, row, 0, columns);
    }
}

static void begin_word(struct text_screen *t)
{
    t->word = t->at.column;
}

void text_screen_go(struct text_screen *t, int64_t row, int64_t column)
{
    int64_t last_row = (int64_t)t->rows - 1, last_column = (int64_t)t->columns - 1;

    if (row < 0) {
        row = 0;
    }
    if (column < 0) {
        column = 0;
    }
    t->at.row = (uint32_t)(row < last_row ? row : last_row);
    t->at.column = (uint32_t)(column < last_column ? column : last_column);
    t->after_wrap = false;
    begin_word(t);
}

/* Scroll up by one row. The first row becomes the last one and is made blank. */
static void scroll(struct text_screen *t)
{
    t->top = ring_row(t, 1);
    t->moved = min_u32(t->moved + 1, t->rows);
    t->kept.row -= t->kept.row != 0;
    text_screen_blank(t, t->rows - 1, 0, t->columns);
}

/* Begin a row. end: as in struct text_row. */
static void begin_row(struct text_screen *t, uint32_t end)
{
    if (t->at.row + 1 == t->rows) {
        scroll(t);
    } else {
        t->at.row++;
    }
    t->at.column = 0;
    text_screen_changed(t, t->at.row)->end = (uint16_t)end;
    begin_word(t);
}

/* The row is full: move its last word to the next row, unless the word began this row. */
static void wrap(struct text_screen *t)
{
    uint32_t from = t->word, n = t->at.column - from;

    if (from == 0 || n == 0 || t->rows == 1) {
        begin_row(t, t->at.column);
        return;
    }
    begin_row(t, from);
    for (uint32_t i = 0; i < n; i++) {
        *cell_at(t, t->at.row, i) = *cell_at(t, t->at.row - 1, from + i);
    }
    note_change(t, t->at.row, 0, n);
    text_screen_blank(t, t->at.row - 1, from, from + n);
    t->at.column = n;
}

static void put_visible(struct text_screen *t, uint32_t code, uint32_t width)
{
    if (width == 0) {
        return; /* a combining mark, which has no glyph */
    }
    /* Wrap twice if the moved word leaves no room for a wide character. */
    while (t->at.column + width > t->columns) {
        wrap(t);
    }
    t->after_wrap = false;
    *cell_at(t, t->at.row, t->at.column) = cell_of(t, code);
    if (width == 2) {
        *cell_at(t, t->at.row, t->at.column + 1) = cell_of(t, 0);
    }
    note_change(t, t->at.row, t->at.column, t->at.column + width);
    t->at.column += width;
    if (width == 2) {
        begin_word(t); /* a row may end between wide characters */
    }
}

/* Write a space; spaces at the edge are left out. */
static void put_space(struct text_screen *t)
{
    uint16_t *end = &text_screen_changed(t, t->at.row)->end;

    if (t->at.column == t->columns) {
        begin_row(t, t->columns + 1);
        t->after_wrap = true;
        return;
    }
    if (t->after_wrap && t->at.column == 0) {
        *end = (uint16_t)min_u32(*end + 1u, UINT16_MAX);
        return;
    }
    *cell_at(t, t->at.row, t->at.column) = cell_of(t, ' ');
    text_screen_touch(t, t->at.row, t->at.column);
    t->at.column++;
    begin_word(t);
}

static void put_tab(struct text_screen *t)
{
    do {
        put_space(t);
    } while (t->at.column % TAB_COLUMNS != 0 && t->at.column < t->columns);
}

/* Write a character. Most are ASCII, whose width needs no search. */
static void put_other(struct text_screen *t, uint32_t code)
{
    if (code > ' ' && code <= '~') {
        put_visible(t, code, 1);
    } else if (!char_is_control(code)) {
        put_visible(t, code, char_width(code));
    }
}

/* End the line, unless a space at the edge has already begun a new row. */
static void end_line(struct text_screen *t)
{
    if (!t->after_wrap || t->at.column != 0) {
        begin_row(t, 0);
    } else {
        text_screen_changed(t, t->at.row)->end = 0;
    }
    t->after_wrap = false;
}

/* BS: take back what the last character did to the cursor, also at the beginning of a row that
 * continues another. */
static void go_back(struct text_screen *t)
{
    uint16_t *end = &text_screen_changed(t, t->at.row)->end;

    if (t->at.column != 0) {
        text_screen_go(t, t->at.row, (int64_t)t->at.column - 1);
    } else if (*end > t->columns + 1) {
        --*end; /* one of several spaces that were left out */
        t->after_wrap = true;
    } else if (*end != 0 && t->at.row != 0) {
        t->at = (struct text_place){ t->at.row - 1, *end - 1u };
        t->after_wrap = false;
        begin_word(t);
    }
}

static void put_plain(struct text_screen *t, uint32_t code)
{
    switch (code) {
    case ESCAPE: t->state = TEXT_ESCAPE; break;
    case '\n': end_line(t); break;
    case '\r': text_screen_go(t, t->at.row, 0); break;
    case '\b': go_back(t); break;
    case '\t': put_tab(t); break;
    case ' ': put_space(t); break;
    default: put_other(t, code); break;
    }
}

/* ESC and the other controls of C0 end a sequence, except a string, which take_string ends. */
static void take_character(struct text_screen *t, uint32_t code)
{
    if (t->state != TEXT_PLAIN && code < ' ' && t->state < TEXT_STRING) {
        t->state = TEXT_PLAIN;
    }
    if (t->state == TEXT_PLAIN) {
        put_plain(t, code);
    } else {
        text_screen_take_escape(t, code);
    }
}

/* held[] was the valid beginning of a character before this byte, so only this byte can be
 * wrong. */
static void take_byte(struct text_screen *t, uint8_t byte)
{
    int check;

    t->held[t->n_held++] = byte;
    check = utf8_check(t->held, t->n_held);
    if (check < 0 && t->n_held > 1) {
        take_character(t, REPLACEMENT);
        t->held[0] = byte;
        t->n_held = 1;
        check = utf8_check(t->held, 1);
    }
    if (check == 0) {
        return;
    }
    take_character(t, check < 0 ? REPLACEMENT : utf8_decode(t->held, check));
    t->n_held = 0;
}

void text_screen_put(struct text_screen *t, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        take_byte(t, (uint8_t)text[i]);
    }
}
