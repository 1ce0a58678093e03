/* A terminal without a device: takes bytes, and keeps cells of characters with colours. The screen
 * understands the part of ECMA-48 that Ingot's console sends, and ignores the rest. So no input can
 * change anything but cells and the cursor. screen_draw.h draws the pixels.
 *
 * A row ends between words: a word that does not fit moves to the next row. Rows that scroll off
 * the top are lost. Each row notes its changes, and the screen notes how far rows have moved, so
 * that only changes are drawn. */
#ifndef INGOT_RUNTIME_TEXT_SCREEN_H
#define INGOT_RUNTIME_TEXT_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TEXT_SCREEN_MIN_COLUMNS = 8,
    TEXT_SCREEN_MAX_COLUMNS = 512,
    TEXT_SCREEN_MAX_ROWS = 256,
    TEXT_SCREEN_NUMBERS = 8, /* numbers of a control sequence; further ones are ignored */
};

/* The colours of ECMA-48; + 8: bright. */
enum text_colour {
    TEXT_BLACK = 0,
    TEXT_GREY = 7, /* of ordinary text */
    TEXT_DARK = 8, /* of dim text */
    TEXT_WHITE = 15,
    TEXT_COLOURS = 16,
};

struct text_cell {
    uint32_t code; /* a printable character; 0: the right half of a wide one */
    uint8_t front, back;
};

/* Columns [from, to) of a row have to be drawn. */
struct text_row {
    uint16_t from, to;
    uint16_t end; /* if this row continues the row above: the column after that row's text, where
                   * spaces that were left out count; else 0 */
};

struct text_look {
    uint8_t front, back;
    bool bold, dim, reversed;
};

struct text_place {
    uint32_t row, column;
};

struct text_screen {
    uint32_t columns, rows;
    struct text_cell *cells; /* cells of rows in a ring: text_screen_cell() */
    struct text_row *changed;
    uint32_t top;           /* the first row's index in the ring */
    uint32_t moved;         /* rows scrolled since the last drawing, at most `rows` */
    struct text_place at;   /* the cursor; column == columns: the next character begins a row */
    struct text_place kept; /* saved by ESC 7 */
    uint32_t word;          /* where the word at the cursor begins */
    bool after_wrap;        /* a row was just wrapped: a space at the start of the next row is left
                             * out */
    struct text_look look;

    /* The bytes of an incomplete character, and an incomplete control sequence. */
    uint8_t held[4];
    uint8_t n_held;
    enum { TEXT_PLAIN, TEXT_ESCAPE, TEXT_SEQUENCE, TEXT_STRING, TEXT_STRING_ESCAPE } state;
    uint32_t numbers[TEXT_SCREEN_NUMBERS];
    uint32_t n_numbers;
    bool foreign; /* the sequence has marks that Ingot's console does not send */
};

/* Return the bytes of memory for these cells; align it as a struct text_cell. */
size_t text_screen_bytes(uint32_t columns, uint32_t rows);

/* Make all cells blank, with the cursor at the top. columns are TEXT_SCREEN_MIN_COLUMNS to
 * _MAX_COLUMNS, rows 1 to _MAX_ROWS; the screen keeps using `memory`. */
void text_screen_open(struct text_screen *t, uint32_t columns, uint32_t rows, void *memory);

/* Write bytes of UTF-8 with control characters, split anywhere. LF begins a row at column 0. BS goes
 * back within a text that was wrapped. */
void text_screen_put(struct text_screen *t, const char *text, size_t bytes);

/* Return the cell at a visible row and column. */
const struct text_cell *text_screen_cell(const struct text_screen *t, uint32_t row,
                                         uint32_t column);
struct text_row *text_screen_changed(struct text_screen *t, uint32_t row);

/* Return the cell that shows the cursor. */
struct text_place text_screen_cursor(const struct text_screen *t);

/* Mark a cell to be drawn again. */
void text_screen_touch(struct text_screen *t, uint32_t row, uint32_t column);

#endif
