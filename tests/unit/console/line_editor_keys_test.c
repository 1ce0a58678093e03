/* Random keys at the line editor against a line of code points that is edited the simple way: the
 * text and the screen are equal after every key. */
#include "tests/unit/console/line_editor_rig.h"

/* ---- the line, edited the simple way ---- */

static struct plain {
    uint32_t text[MAX_LINE];
    unsigned n, cursor;
} plain;

static bool blank(uint32_t c)
{
    return c == ' ' || c == '\n';
}

static void plain_remove(unsigned from, unsigned to)
{
    memmove(plain.text + from, plain.text + to, (plain.n - to) * sizeof plain.text[0]);
    plain.n -= to - from;
    plain.cursor = from;
}

static void plain_insert(uint32_t code)
{
    memmove(plain.text + plain.cursor + 1, plain.text + plain.cursor,
            (plain.n - plain.cursor) * sizeof plain.text[0]);
    plain.text[plain.cursor++] = code;
    plain.n++;
}

/* Marks go with the character before them. */
static unsigned plain_before(unsigned at)
{
    while (at > 0 && plain.text[--at] == 0x301) {
    }
    return at;
}

static unsigned plain_after(unsigned at)
{
    at += at < plain.n;
    while (at < plain.n && plain.text[at] == 0x301) {
        at++;
    }
    return at;
}

static unsigned plain_word_left(void)
{
    unsigned at = plain.cursor;

    while (at > 0 && blank(plain.text[at - 1])) {
        at--;
    }
    while (at > 0 && !blank(plain.text[at - 1])) {
        at--;
    }
    return at;
}

static unsigned plain_word_right(void)
{
    unsigned at = plain.cursor;

    while (at < plain.n && blank(plain.text[at])) {
        at++;
    }
    while (at < plain.n && !blank(plain.text[at])) {
        at++;
    }
    return at;
}

/* ---- both, key by key ---- */

static uint64_t seed = 1;

static unsigned draw(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

static void type_random_key(void)
{
    static const char *const letters[] = {
        "a", "b", " ", "\xc3\xa4", "\xe4\xb8\xad", "\xf0\x9f\x98\x80", "\xcc\x81"
    };
    static const uint32_t codes[] = { 'a', 'b', ' ', 0xe4, 0x4e2d, 0x1f600, 0x301 };
    static const char *const lefts[] = { "\33[D", "\2", "\33OD" };
    static const char *const rights[] = { "\33[C", "\6", "\33OC" };
    unsigned key = draw(28), i = draw(7), way = draw(3);

    switch (key) {
    case 0:
        type(lefts[way]);
        plain.cursor = plain_before(plain.cursor);
        break;
    case 1:
        type(rights[way]);
        plain.cursor = plain_after(plain.cursor);
        break;
    case 2:
        type(way ? "\33[H" : "\1");
        plain.cursor = 0;
        break;
    case 3:
        type(way ? "\33[4~" : "\5");
        plain.cursor = plain.n;
        break;
    case 4:
        type("\33[1;5D");
        plain.cursor = plain_word_left();
        break;
    case 5:
        type("\33f");
        plain.cursor = plain_word_right();
        break;
    case 6:
    case 7:
        type(way ? "\x7f" : "\b");
        plain_remove(plain_before(plain.cursor), plain.cursor);
        break;
    case 8:
        type(way ? "\33[3~" : plain.n != 0 ? "\4" : "");
        plain_remove(plain.cursor, plain_after(plain.cursor));
        break;
    case 9:
        type("\27");
        plain_remove(plain_word_left(), plain.cursor);
        break;
    case 10:
        if (draw(8) == 0) {
            type("\13");
            plain_remove(plain.cursor, plain.n);
        }
        break;
    case 11:
        type("\33[200~x\ry\33[201~");
        plain_insert('x');
        plain_insert('\n');
        plain_insert('y');
        break;
    case 12: type("\33[24~\33[1;2Z\33x\t\7"); break; /* keys that mean nothing */
    case 13:
        if (draw(20) == 0) {
            type("\25");
            plain_remove(0, plain.n);
        }
        break;
    default: type(letters[i]); plain_insert(codes[i]);
    }
}

static bool same_text(void)
{
    const char *at = line;

    for (unsigned i = 0; i < plain.n; i++) {
        int bytes = utf8_check((const uint8_t *)at, strlen(at));

        if (bytes <= 0 || utf8_decode((const uint8_t *)at, bytes) != plain.text[i]) {
            return false;
        }
        at += bytes;
    }
    return *at == '\0' && editor.n == (size_t)(at - line);
}

/* The screen must show what prompt and line give when written from its top, and nothing else. */
static bool same_screen(void)
{
    static uint32_t cells[MAX_ROWS][MAX_COLUMNS];
    uint32_t row = 0, column = 2, cursor_row = 0, cursor_column = 2;

    memset(cells, 0, sizeof cells);
    cells[0][0] = '>';
    cells[0][1] = ' ';
    for (unsigned i = 0; i < plain.n; i++) {
        uint32_t width = char_width(plain.text[i]);

        if (plain.text[i] == '\n') {
            row++;
            column = 0;
        } else {
            if (column + width > term.columns - 1) {
                row++;
                column = 0;
            }
            if (width != 0) {
                cells[row][column] = plain.text[i];
            }
            if (width == 2) {
                cells[row][column + 1] = 1;
            }
            column += width;
        }
        if (i + 1 == plain.cursor) {
            cursor_row = row;
            cursor_column = column;
        }
    }
    return memcmp(cells, term.cells, sizeof cells) == 0 && term.row == cursor_row &&
           term.column == cursor_column;
}

/* `answers`: the terminal has told its width; otherwise only the display's width is known.
 * `bursts`: keys come faster than the line can be drawn. */
static void test_random_keys(uint32_t columns, bool answers, bool bursts)
{
    unsigned text_wrong = 0, screen_wrong = 0, keys = 0;

    open_editor(columns, true);
    if (!answers) {
        editor.columns = 0;
        editor.most_columns = columns;
    }
    memset(&plain, 0, sizeof plain);
    for (; keys < 3000 && plain.n < MAX_LINE - 4; keys++) {
        editor.more = bursts && draw(4) != 0;
        type_random_key();
        if (bursts) {
            type("\7"); /* means nothing, but a random key may have typed nothing */
        }
        text_wrong += !same_text();
        screen_wrong += !editor.more && !same_screen();
    }
    OK(text_wrong == 0, "%u keys on %u columns give the right text (%u wrong)", keys, columns,
       text_wrong);
    OK(screen_wrong == 0, "the screen is right, too (%u wrong)", screen_wrong);
    OK(term.row < MAX_ROWS && keys > 400, "the test goes on for %u keys", keys);
}

int main(void)
{
    static const uint32_t widths[] = { 9, 10, 17, 33, 80, 119 };

    for (unsigned i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        test_random_keys(widths[i], true, false);
        test_random_keys(widths[i], true, true);
    }
    test_random_keys(40, false, false);
    return tap_done();
}
