/* Control sequences (ECMA-48, section 8.3): the cursor, erasing, colours. */
#include "board/min_max.h"
#include "runtime/screen/text_screen_private.h"

enum { ESCAPE = 27, BELL = 7, MOST = 9999 };

static void keep_cursor(struct text_screen *t)
{
    t->kept = text_screen_cursor(t);
}

static void restore_cursor(struct text_screen *t)
{
    text_screen_go(t, t->kept.row, t->kept.column);
}

static void take_escape(struct text_screen *t, uint32_t code)
{
    t->state = TEXT_PLAIN;
    switch (code) {
    case '[':
        t->state = TEXT_SEQUENCE;
        t->numbers[0] = 0;
        t->n_numbers = 0;
        t->foreign = false;
        break;
    case ']': /* OSC, and other sequences that end with ST */
    case 'P':
    case 'X':
    case '^':
    case '_': t->state = TEXT_STRING; break;
    case '7': keep_cursor(t); break;
    case '8': restore_cursor(t); break;
    default: break;
    }
}

/* Return the n-th number; a missing number, or 0, counts as `missing`. */
static uint32_t number(const struct text_screen *t, uint32_t n, uint32_t missing)
{
    if (n > t->n_numbers || n >= TEXT_SCREEN_NUMBERS || t->numbers[n] == 0) {
        return missing;
    }
    return t->numbers[n];
}

static void erase_row(struct text_screen *t)
{
    struct text_place at = text_screen_cursor(t);

    switch (number(t, 0, 0)) {
    case 0: text_screen_blank(t, at.row, at.column, t->columns); break;
    case 1: text_screen_blank(t, at.row, 0, at.column + 1); break;
    case 2: text_screen_blank(t, at.row, 0, t->columns); break;
    default: break;
    }
}

static void erase_screen(struct text_screen *t)
{
    struct text_place at = text_screen_cursor(t);
    uint32_t what = number(t, 0, 0), first = at.row + 1, end = t->rows;

    if (what > 2) {
        return;
    }
    erase_row(t);
    if (what != 0) {
        first = 0;
    }
    if (what == 1) {
        end = at.row;
    }
    for (uint32_t row = first; row < end; row++) {
        text_screen_blank(t, row, 0, t->columns);
    }
}

static void set_ordinary(struct text_look *look)
{
    *look = (struct text_look){ .front = TEXT_GREY, .back = TEXT_BLACK };
}

/* Apply one number of SGR, 8.3.117. */
static void set_look(struct text_look *look, uint32_t n)
{
    switch (n) {
    case 0: set_ordinary(look); break;
    case 1: look->bold = true; break;
    case 2: look->dim = true; break;
    case 7: look->reversed = true; break;
    case 22: look->bold = look->dim = false; break;
    case 27: look->reversed = false; break;
    case 39: look->front = TEXT_GREY; break;
    case 49: look->back = TEXT_BLACK; break;
    default: break;
    }
    if (n >= 30 && n <= 37) {
        look->front = (uint8_t)(n - 30);
    } else if (n >= 40 && n <= 47) {
        look->back = (uint8_t)(n - 40);
    } else if (n >= 90 && n <= 97) {
        look->front = (uint8_t)(n - 90 + 8);
    }
}

/* Numbers 38 and 48 choose one of 256 or more colours. The numbers after them belong to this
 * colour, so stop there. */
static void set_looks(struct text_screen *t)
{
    uint32_t n = min_u32(t->n_numbers + 1, TEXT_SCREEN_NUMBERS);

    for (uint32_t i = 0; i < n && t->numbers[i] != 38 && t->numbers[i] != 48; i++) {
        set_look(&t->look, t->numbers[i]);
    }
}

static void obey(struct text_screen *t, uint32_t final)
{
    struct text_place at = text_screen_cursor(t);
    int64_t n = number(t, 0, 1);

    switch (final) {
    case 'A': text_screen_go(t, (int64_t)at.row - n, at.column); break;
    case 'B': text_screen_go(t, (int64_t)at.row + n, at.column); break;
    case 'C': text_screen_go(t, at.row, (int64_t)at.column + n); break;
    case 'D': text_screen_go(t, at.row, (int64_t)at.column - n); break;
    case 'G': text_screen_go(t, at.row, n - 1); break;
    case 'H':
    case 'f': text_screen_go(t, n - 1, (int64_t)number(t, 1, 1) - 1); break;
    case 'J': erase_screen(t); break;
    case 'K': erase_row(t); break;
    case 'm': set_looks(t); break;
    case 's': keep_cursor(t); break;
    case 'u': restore_cursor(t); break;
    default: break;
    }
}

static void take_number(struct text_screen *t, uint32_t digit)
{
    uint32_t *n;

    if (t->n_numbers >= TEXT_SCREEN_NUMBERS) {
        return;
    }
    n = &t->numbers[t->n_numbers];
    *n = min_u32(*n * 10 + digit, MOST);
}

static void begin_number(struct text_screen *t)
{
    t->n_numbers = min_u32(t->n_numbers + 1, TEXT_SCREEN_NUMBERS);
    if (t->n_numbers < TEXT_SCREEN_NUMBERS) {
        t->numbers[t->n_numbers] = 0;
    }
}

static void take_sequence(struct text_screen *t, uint32_t code)
{
    if (code >= '0' && code <= '9') {
        take_number(t, code - '0');
    } else if (code == ';') {
        begin_number(t);
    } else if (code >= ' ' && code <= '?') {
        t->foreign = true; /* the sequence has a private or intermediate mark */
    } else {
        t->state = TEXT_PLAIN;
        if (!t->foreign) {
            obey(t, code);
        }
    }
}

/* Skip a text for a terminal's title or similar. A newline ends such a text, so that it cannot hide
 * everything that follows. */
static void take_string(struct text_screen *t, uint32_t code)
{
    if (code == BELL || code == '\n' || code == 0x9c) {
        t->state = TEXT_PLAIN;
    } else if (t->state == TEXT_STRING_ESCAPE) {
        t->state = code == '\\' ? TEXT_PLAIN : TEXT_STRING;
    } else if (code == ESCAPE) {
        t->state = TEXT_STRING_ESCAPE;
    }
}

void text_screen_take_escape(struct text_screen *t, uint32_t code)
{
    switch (t->state) {
    case TEXT_ESCAPE: take_escape(t, code); break;
    case TEXT_SEQUENCE: take_sequence(t, code); break;
    case TEXT_STRING:
    case TEXT_STRING_ESCAPE: take_string(t, code); break;
    case TEXT_PLAIN:
    default: break;
    }
}
