/* Words at the right edge of a terminal, which arrive whole or in parts, at any width. */
#include "runtime/text/word_wrap.h"

#include <stdlib.h>

#include "tests/unit/console/line_editor_rig.h"

static struct word_wrap wrap;

/* One whole character, from the UTF-8 writer. */
static void put_character(void *context, const char *text, size_t bytes)
{
    (void)context;
    word_wrap_put(&wrap, text, bytes);
}

static void put(const char *text)
{
    struct utf8_writer writer = { .write = put_character };

    utf8_writer_put(&writer, text, strlen(text));
}

static void open_wrap(uint32_t columns)
{
    terminal_open(columns);
    wrap = (struct word_wrap){ .write = write_out, .columns = columns };
}

/* The row as text; a mark is not shown by the rig. */
static const char *row(uint32_t at)
{
    static char text[4 * MAX_COLUMNS];
    size_t n = 0, end = 0;

    for (uint32_t i = 0; i < MAX_COLUMNS; i++) {
        uint32_t code = term.cells[at][i];

        if (code != 1) {
            n += utf8_encode(text + n, code == 0 ? ' ' : code);
            end = code == 0 || code == ' ' ? end : n;
        }
    }
    text[end] = '\0';
    return text;
}

static bool rows_are(const char *first, const char *second, const char *third)
{
    const char *const expected[] = { first, second, third };
    bool good = true;

    for (uint32_t i = 0; i < 3; i++) {
        if (strcmp(row(i), expected[i]) != 0) {
            printf("# row %u is \"%s\"\n", (unsigned)i, row(i));
            good = false;
        }
    }
    return good;
}

static bool shows(uint32_t columns, const char *text, const char *first, const char *second,
                  const char *third)
{
    open_wrap(columns);
    put(text);
    return rows_are(first, second, third);
}

static void test_words(void)
{
    OK(shows(12, "one two three four", "one two", "three four", ""),
       "a word that does not fit moves");
    OK(shows(12, "12345678901 x", "12345678901", "x", ""),
       "a word that fits to the last column stays");
    OK(shows(12, "a bc def     ghij", "a bc def", "ghij", ""), "spaces at the edge are left out");
    OK(shows(12, "1234567890 \nb\n\nc", "1234567890", "b", ""),
       "spaces add no row before a newline");
    OK(shows(12, "12345678901 \nb", "12345678901", "b", ""),
       "spaces at the edge add no row before a newline");
    OK(shows(12, "a\tb\tcd", "a       b", "cd", ""), "a tab counts as a space");
    OK(shows(12, "ab 12345678901234567890", "ab", "12345678901", "234567890"),
       "a word longer than a row begins one, and breaks where it ends");
    open_wrap(12);
    wrap.columns = 3;
    put("ab cdefghij");
    OK(rows_are("ab", "cdefghi", "j"), "a terminal has 8 columns at least");
    open_wrap(12);
    wrap.columns = 0;
    put("one two three");
    OK(rows_are("one two thre", "e", "") && term.escapes == 0,
       "nothing is wrapped without a width");
}

static void test_parts(void)
{
    open_wrap(12);
    put("one two th");
    OK(rows_are("one two th", "", ""), "a part of a word is shown at once");
    put("r");
    OK(rows_are("one two thr", "", "") && term.escapes == 0,
       "a part of a word stays as long as there is room");
    put("e");
    OK(rows_are("one two", "thre", "") && term.row == 1 && term.column == 4,
       "a word moves to the next row when there is no room");
    word_wrap_begin_word(&wrap);
    put("+seven89");
    OK(rows_are("one two", "thre", "+seven89"),
       "a word of another color may begin without a space");
    open_wrap(12);
    put("> ");
    word_wrap_begin_row(&wrap);
    write_out(NULL, "\r", 1);
    put("one two three");
    OK(rows_are("one two", "three", ""), "a row that somebody else begins is counted");
}

static void test_widths(void)
{
    OK(shows(12, "ab \346\227\245\346\234\254\350\252\236\346\226\207\345\255\227",
             "ab \346\227\245\346\234\254\350\252\236\346\226\207", "\345\255\227", ""),
       "rows of wide characters end between any two");
    OK(shows(12, "a \346\227\245\346\234\254\350\252\236wide!",
             "a \346\227\245\346\234\254\350\252\236", "wide!", ""),
       "a row ends before a word after wide characters, too");
    open_wrap(12);
    put("abcdefg cafe\314\201s");
    OK(rows_are("abcdefg", "cafes", "") && wrap.column == 5 && wrap.n == 7,
       "marks take no column and go with their word");
    open_wrap(40);
    put("one two three four ");
    wrap.columns = term.columns = 12;
    put("five six");
    OK(strcmp(row(term.row), "five six") == 0, "a window that is made narrower meanwhile is used");
}

/* Any words at any width: no word is cut that fits a row, and none is lost. */
static void test_all(void)
{
    static const char text[] =
        "It was a dark and stormy night; the rain fell in torrents, except at "
        "occasional intervals, when it was checked by a violent gust.";
    unsigned wrong = 0;

    for (uint32_t columns = 16; columns <= 100; columns++) {
        char shown[512] = "";

        open_wrap(columns);
        put(text);
        for (uint32_t i = 0; i <= term.row; i++) {
            strcat(shown, i == 0 ? "" : " ");
            strcat(shown, row(i));
        }
        wrong += strcmp(shown, text) != 0;
    }
    OK(wrong == 0, "every width from 16 to 100 columns is right");
}

int main(void)
{
    test_words();
    test_parts();
    test_widths();
    test_all();
    return tap_done();
}
