/* The line editor against a terminal that obeys its control sequences, and against a plain line
 * of code points that is edited the simple way. */
#include "runtime/console/line_editor.h"

#include <string.h>

#include "runtime/text/char_width.h"
#include "tests/unit/tap.h"

enum { MAX_ROWS = 600, MAX_COLUMNS = 120, MAX_LINE = 700 };

/* ---- the terminal: a VT100 with deferred wrap, as xterm, PuTTY and the Linux console are ---- */

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

static void clear_from(uint32_t row, uint32_t column)
{
    memset(&term.cells[row][column], 0, (MAX_COLUMNS - column) * sizeof term.cells[0][0]);
    for (row++; row < MAX_ROWS; row++) {
        memset(term.cells[row], 0, sizeof term.cells[row]);
    }
}

static void obey(const char *sequence)
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

static void show(void *context, const char *text, size_t bytes)
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

static void terminal_take(char c)
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
    case '\b':
        term.column -= term.column > 0;
        term.wrap_pending = false;
        break;
    default: utf8_writer_put(&term.utf8, &c, 1);
    }
}

static void write_out(void *context, const char *text, size_t bytes)
{
    (void)context;
    for (size_t i = 0; i < bytes; i++) {
        terminal_take(text[i]);
    }
}

static void terminal_open(uint32_t columns)
{
    memset(&term, 0, sizeof term);
    term.columns = columns;
    term.utf8 = (struct utf8_writer){ .write = show };
}

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

static struct line_editor editor;
static char line[4 * MAX_LINE];

static enum line_event type(const char *keys)
{
    enum line_event event = LINE_MORE;

    while (*keys != '\0' && event == LINE_MORE) {
        event = line_editor_take(&editor, (uint8_t)*keys++);
    }
    return event;
}

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

/* The screen must be what prompt and line give when written from its top, and nothing else. */
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

static void open_editor(uint32_t columns, bool terminal)
{
    terminal_open(columns);
    memset(&editor, 0, sizeof editor);
    memset(&plain, 0, sizeof plain);
    editor.write = write_out;
    editor.echo = true;
    editor.terminal = terminal;
    editor.columns = columns;
    line_editor_begin(&editor, "> ", line, sizeof line);
}

static void test_random_keys(uint32_t columns)
{
    unsigned text_wrong = 0, screen_wrong = 0, keys = 0;

    open_editor(columns, true);
    for (; keys < 3000 && plain.n < MAX_LINE - 4; keys++) {
        type_random_key();
        text_wrong += !same_text();
        screen_wrong += !same_screen();
    }
    OK(text_wrong == 0, "%u keys on %u columns: the text is right (%u wrong)", keys, columns,
       text_wrong);
    OK(screen_wrong == 0, "and so is the screen (%u wrong)", screen_wrong);
    OK(term.row < MAX_ROWS && keys > 400, "the test went on for %u keys", keys);
}

static void test_plain(void)
{
    open_editor(80, false);
    type("caf\xc3\xa9 \xe4\xb8\xad\x7f\x7f!\10?");
    OK(strcmp(line, "caf\xc3\xa9?") == 0 && term.escapes == 0,
       "no terminal: text and BS alone, no control sequences (\"%s\")", line);
    OK(term.column == 7 && term.cells[0][6] == '?' && term.cells[0][7] == ' ',
       "and the screen shows the line");
    type("\33[D\33[DX");
    OK(editor.terminal && strcmp(line, "cafX\xc3\xa9?") == 0, "the first arrow key makes it one");
    OK(term.cells[0][5] == 'X' && term.cells[0][6] == 0xe9 && term.column == 6,
       "and the screen follows");
}

/* e with an acute and a dot below, then x: two characters, whatever is done to them. */
static void test_marks(void)
{
    open_editor(80, true);
    type("e\xcc\x81\xcc\xa3x\33[D\33[D");
    OK(editor.cursor == 0 && term.column == 2, "left goes over a base with its marks");
    type("\33[C");
    OK(editor.cursor == 5 && term.column == 3, "right as well");
    type("\x7f");
    OK(strcmp(line, "x") == 0 && term.column == 2, "backspace takes them together");
    type("\1e\xcc\x81\xcc\xa3\1\33[3~");
    OK(strcmp(line, "x") == 0, "delete too");
    open_editor(80, false);
    type("ae\xcc\x81\xcc\xa3\x7f");
    OK(strcmp(line, "a") == 0 && term.column == 3, "and backspace where there is no terminal");
    type("\xe0\xa4\x95\xe0\xa4\xbf\x7f");
    OK(strcmp(line, "a") == 0 && char_joins(0x93f) && char_width(0x93f) == 1,
       "a mark that takes a column of its own goes with its base");
    OK(char_joins(0x200d) && char_joins(0xfe0f) && !char_joins('e') && char_width(0x300) == 0 &&
           char_width(0x3099) == 0,
       "which characters join");
}

static void test_ends(void)
{
    open_editor(80, false);
    OK(type("hello\r") == LINE_FINISHED && editor.n == 5, "Enter finishes");
    line_editor_begin(&editor, "> ", line, sizeof line);
    OK(type("\n") == LINE_MORE, "the LF of a CR LF is no line");
    OK(type("\n") == LINE_FINISHED && editor.n == 0, "a second one is an empty line");
    line_editor_begin(&editor, "> ", line, sizeof line);
    OK(type("half\3") == LINE_ABORTED, "Ctrl-C aborts");
    line_editor_begin(&editor, "> ", line, sizeof line);
    OK(type("\4") == LINE_END, "Ctrl-D on an empty line ends the input");
    line_editor_begin(&editor, "> ", line, 6);
    OK(type("123456\r") == LINE_TOO_LONG && strcmp(line, "12345") == 0, "too long is said");
    line_editor_begin(&editor, "> ", line, 6);
    OK(type("123456\x7f"
            "7\r") == LINE_TOO_LONG,
       "and what is cut off is not taken back");
    line_editor_begin(&editor, "> ", line, 6);
    OK(type("123456\25"
            "7\r") == LINE_FINISHED &&
           strcmp(line, "7") == 0,
       "but Ctrl-U clears");
    line_editor_begin(&editor, "> ", line, sizeof line);
    OK(type("a\xff\xc3(\r") == LINE_FINISHED &&
           strcmp(line, "a" UTF8_REPLACEMENT UTF8_REPLACEMENT "(") == 0,
       "what is not UTF-8 becomes U+FFFD");
    line_editor_begin(&editor, "> ", line, sizeof line);
    type("a\xc3");
    OK(line_editor_close(&editor) == LINE_FINISHED && strcmp(line, "a" UTF8_REPLACEMENT) == 0,
       "the end of the input finishes a line");
    line_editor_begin(&editor, "> ", line, sizeof line);
    OK(line_editor_close(&editor) == LINE_END, "or ends it");
}

static void enter(const char *text)
{
    line_editor_begin(&editor, "> ", line, sizeof line);
    type(text);
    type("\r");
}

static void test_history(void)
{
    char text[200];

    open_editor(80, true);
    enter("one");
    enter("two");
    enter("two");
    enter("");
    enter("three");
    line_editor_begin(&editor, "> ", line, sizeof line);
    type("\33[A");
    OK(strcmp(line, "three") == 0, "up: the last line (\"%s\")", line);
    type("\33[A");
    OK(strcmp(line, "two") == 0, "up: the one before (\"%s\")", line);
    type("\33[A");
    OK(strcmp(line, "one") == 0, "the same line twice is kept once (\"%s\")", line);
    type("\33[A");
    OK(strcmp(line, "one") == 0, "nothing older");
    type("\33[B\16");
    OK(strcmp(line, "three") == 0, "down, and Ctrl-N");
    type("\33[B");
    OK(strcmp(line, "") == 0, "down to the new line");
    type("\20!\r");
    OK(strcmp(line, "three!") == 0, "Ctrl-P, and on from there");
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (unsigned i = 0; i < 100; i++) {
        text[0] = (char)('a' + i % 26);
        enter(text);
    }
    OK(editor.history.bytes <= LINE_HISTORY_BYTES && editor.history.bytes > 3800,
       "the history keeps to its %u bytes (%u)", LINE_HISTORY_BYTES,
       (unsigned)editor.history.bytes);
    line_editor_begin(&editor, "> ", line, sizeof line);
    for (unsigned i = 0; i < 200; i++) {
        type("\33[A");
    }
    OK(strlen(line) == sizeof text - 1, "and its oldest line is whole");
    line_editor_begin(&editor, "> ", line, 10);
    type("\33[A");
    OK(editor.n == 0, "a line longer than there is room for is not recalled");
}

static void test_width(void)
{
    open_editor(40, true);
    type("some text");
    line_editor_ask_width(&editor);
    OK(term.asked == 1 && term.column == 11, "the width is asked for without moving the cursor");
    type("\33[1;40R\33[1;17R");
    OK(editor.columns == 17 && strcmp(line, "some text") == 0, "the answer is no text");
    type("\33[1R\33[;R\33[9;0R\33[12345678901234567890;5R");
    OK(editor.columns == 17, "what is no answer is ignored (%u)", (unsigned)editor.columns);
    type("\f");
    OK(term.row == 0 && term.cells[0][0] == '>' && term.asked == 2, "Ctrl-L clears and draws");
    open_editor(40, true);
    OK(term.pastes == 1, "a terminal is asked to mark pastes");
    type("abcdefghijklmnopqrstuvwxyz");
    term.columns = 17;
    type("\33[1;17R");
    OK(term.cells[0][15] == 'n' && term.cells[0][16] == 0 && term.cells[1][0] == 'o' &&
           term.row == 1 && term.column == 12,
       "a window made narrower gets the line anew");
    open_editor(40, false);
    OK(term.pastes == 0, "nobody else is");
}

int main(void)
{
    static const uint32_t widths[] = { 9, 10, 17, 33, 80, 119 };

    for (unsigned i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        test_random_keys(widths[i]);
    }
    test_plain();
    test_marks();
    test_ends();
    test_history();
    test_width();
    return tap_done();
}
