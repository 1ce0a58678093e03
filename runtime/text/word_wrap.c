#include "runtime/text/word_wrap.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/text/char_width.h"
#include "runtime/text/format_text.h"
#include "runtime/text/utf8.h"

enum { TAB_COLUMNS = 8 };

static uint32_t usable_columns(const struct word_wrap *w)
{
    return max_u32(w->columns, WORD_WRAP_LEAST_COLUMNS) - 1;
}

void word_wrap_begin_word(struct word_wrap *w)
{
    w->word_column = w->column;
    w->n = 0;
    w->wide = w->unbroken = false;
}

void word_wrap_begin_row(struct word_wrap *w)
{
    w->column = 0;
    w->full = false;
    word_wrap_begin_word(w);
}

static void end_row(struct word_wrap *w)
{
    w->write(w->context, "\n", 1);
    word_wrap_begin_row(w);
}

/* Move the word at the cursor to the next row. A word that begins this row, or is longer than
 * w->word, is not moved, but continues in the next row. */
static void move_word(struct word_wrap *w)
{
    uint32_t columns = w->column - w->word_column;
    char text[16];

    if (w->word_column == 0 || w->unbroken) {
        end_row(w);
        return;
    }
    if (columns != 0) {
        w->write(w->context, text,
                 format_text(text, sizeof text, "\33[%uD\33[K", (unsigned)columns));
    }
    w->write(w->context, "\n", 1);
    w->write(w->context, w->word, w->n);
    w->column = columns;
    w->word_column = 0;
}

static void keep(struct word_wrap *w, const char *text, size_t bytes)
{
    if (w->n + bytes > sizeof w->word) {
        w->unbroken = true;
        return;
    }
    memcpy(w->word + w->n, text, bytes);
    w->n += bytes;
}

/* A row may end between wide characters, because East Asian text has no spaces. */
static void put_visible(struct word_wrap *w, const char *text, size_t bytes)
{
    uint32_t width = char_width(utf8_decode((const uint8_t *)text, (int)bytes));

    if (w->full) {
        end_row(w);
    }
    if (width == 2 || (w->wide && width != 0)) {
        word_wrap_begin_word(w);
        w->wide = width == 2;
    }
    if (w->column + width > usable_columns(w)) {
        move_word(w);
    }
    w->write(w->context, text, bytes);
    keep(w, text, bytes);
    w->column += width;
}

/* Write a space or a tab up to the column `to`; at the edge it is left out. */
static void put_space(struct word_wrap *w, const char *text, uint32_t to)
{
    w->full = w->full || to > usable_columns(w);
    if (!w->full) {
        w->write(w->context, text, 1);
        w->column = to;
    }
    word_wrap_begin_word(w);
}

void word_wrap_put(struct word_wrap *w, const char *text, size_t bytes)
{
    if (w->columns == 0) {
        w->write(w->context, text, bytes);
        if (*text == '\n') {
            word_wrap_begin_row(w);
        }
        return;
    }
    switch (*text) {
    case '\n': end_row(w); break;
    case ' ': put_space(w, text, w->column + 1); break;
    case '\t': put_space(w, text, w->column / TAB_COLUMNS * TAB_COLUMNS + TAB_COLUMNS); break;
    default: put_visible(w, text, bytes); break;
    }
}
