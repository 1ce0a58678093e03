/* The text screen: the contents of cells after bytes, and which cells are to be drawn. */
#include "runtime/screen/text_screen.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/text/utf8.h"
#include "tests/unit/tap.h"

static struct text_screen t;
static void *memory;
static char shown[TEXT_SCREEN_MAX_COLUMNS * 4 + 1];

static void begin(uint32_t columns, uint32_t rows)
{
    free(memory);
    memory = malloc(text_screen_bytes(columns, rows));
    text_screen_open(&t, columns, rows, memory);
}

static void put(const char *text)
{
    text_screen_put(&t, text, strlen(text));
}

/* Returns a row without the blanks at its end; the right half of a wide character has no text. */
static const char *row(uint32_t number)
{
    size_t n = 0, end = 0;

    for (uint32_t column = 0; column < t.columns; column++) {
        uint32_t code = text_screen_cell(&t, number, column)->code;

        if (code != 0)
            n += utf8_encode(shown + n, code);
        if (code != ' ')
            end = n;
    }
    shown[end] = '\0';
    return shown;
}

static bool is(uint32_t number, const char *text)
{
    if (strcmp(row(number), text) == 0)
        return true;
    printf("# row %u is \"%s\"\n", (unsigned)number, row(number));
    return false;
}

static bool at(uint32_t line, uint32_t column)
{
    struct text_place place = text_screen_cursor(&t);

    return place.row == line && place.column == column;
}

static bool looks(uint32_t column, uint8_t front, uint8_t back)
{
    const struct text_cell *cell = text_screen_cell(&t, 0, column);

    return cell->front == front && cell->back == back;
}

static void forget_changes(void)
{
    t.moved = 0;
    for (uint32_t i = 0; i < t.rows; i++)
        *text_screen_changed(&t, i) = (struct text_row){ 0, 0, 0 };
}

static bool changed(uint32_t line, uint32_t from, uint32_t to)
{
    const struct text_row *r = text_screen_changed(&t, line);

    return r->from == from && r->to == to;
}

static void test_text(void)
{
    begin(20, 4);
    put("one\r\ntwo\nthr\xc3\xa9"
        "e");
    OK(is(0, "one") && is(1, "two") &&
           is(2, "thr\xc3\xa9"
                 "e"),
       "lines end with and without CR");
    OK(at(2, 5), "the cursor is after the last character");
    put("\b\b\bX");
    OK(is(2, "thX\xc3\xa9"
             "e"),
       "BS goes back");
    put("\r\tZ");
    OK(at(2, 9) && text_screen_cell(&t, 2, 8)->code == 'Z', "a tab goes to column 8");
    begin(20, 4);
    put("a\xff"
        "b\xe2\x82\x63 \xed\xa0\x80");
    OK(is(0, "a\xef\xbf\xbd"
             "b\xef\xbf\xbd"
             "c \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"),
       "bytes that are not UTF-8 become U+FFFD");
    begin(20, 4);
    put("a\xcc\x81\xe6\x97\xa5z");
    OK(is(0, "a\xe6\x97\xa5z") && at(0, 4) && text_screen_cell(&t, 0, 2)->code == 0,
       "a mark takes no column, a wide character two");
    put("\x07\x01\x7f\xc2\x9b");
    OK(at(0, 4), "other control characters do nothing");
}

static void test_wrap(void)
{
    begin(10, 5);
    put("the quick brown foxes");
    OK(is(0, "the quick") && is(1, "brown") && is(2, "foxes"), "rows end between words");
    begin(10, 5);
    put("abcdefghijklm no");
    OK(is(0, "abcdefghij") && is(1, "klm no"), "a word longer than the row breaks");
    begin(10, 5);
    put("abcdefghij klm");
    OK(is(0, "abcdefghij") && is(1, "klm"), "the space at the edge is left out");
    begin(10, 5);
    put("abcdefghij  \nklm");
    OK(is(0, "abcdefghij") && is(1, "klm"), "a newline after a full row begins no second row");
    begin(10, 5);
    put("abcdefghij\n\nklm");
    OK(is(1, "") && is(2, "klm"), "further newlines after a full row count");
    begin(8, 5);
    put("a bcdefg\xe6\x97\xa5");
    OK(is(0, "a") && is(1, "bcdefg\xe6\x97\xa5"), "a wide character joins a word that moves");
    begin(8, 5);
    put("abcdefg\xe6\x97\xa5");
    OK(is(0, "abcdefg") && is(1, "\xe6\x97\xa5"),
       "a wide character that does not fit begins a row");
    begin(8, 5);
    put("   \33[31mred\33[0mab\33[1mcd");
    OK(is(0, "") && is(1, "redabcd") && text_screen_cell(&t, 1, 0)->front == 1 &&
           text_screen_cell(&t, 1, 6)->front == TEXT_WHITE,
       "a word of several looks moves with its looks");
    begin(8, 1);
    put("ab cdefghij");
    OK(is(0, "hij") && t.moved == 1, "a screen of one row scrolls");
}

static void test_scroll(void)
{
    begin(10, 3);
    put("1\n2\n3");
    forget_changes();
    put("\n4");
    OK(is(0, "2") && is(1, "3") && is(2, "4") && t.moved == 1, "the first row leaves at the top");
    OK(changed(0, 0, 0) && changed(1, 0, 0) && changed(2, 0, 10),
       "only the last row is to be drawn");
    put("\33[2;3Hx");
    OK(changed(1, 2, 3), "only the changed part of a row is to be drawn");
    put("\33[3;1H\n");
    OK(changed(0, 2, 3) && t.moved == 2, "the changed part goes up with its row");
    put("\n\n\n\n\n");
    OK(t.moved == 3 && is(0, "") && is(2, ""),
       "scrolling by more rows than there are clears the screen");
}

static void test_sequences(void)
{
    begin(20, 4);
    put("abcdef\33[3D\33[K");
    OK(is(0, "abc") && at(0, 3), "CUB and EL work as word wrap sends them");
    put("\33[2;5Hx\33[A\33[2Cy\33[Bz");
    OK(is(1, "    x   z") && is(0, "abc    y"), "CUP, CUU, CUF and CUD move the cursor");
    put("\33[99;99H!");
    OK(text_screen_cell(&t, 3, 19)->code == '!', "the cursor stays on the screen");
    put("\33[2;5H\33[J");
    OK(is(0, "abc    y") && is(1, "") && is(3, ""), "ED clears to the end of the screen");
    put("\33[2J");
    OK(is(0, ""), "ED clears the whole screen");
    begin(20, 4);
    put("ab\33"
        "7\33[999C\33[6n\33"
        "8cd");
    OK(is(0, "abcd"), "the question how wide a terminal is leaves no text");
    put("\33[?2004hx\33[>1mz\33]0;title\7y\33]52;c;abc\33\\w\33Pq\33\\v");
    OK(is(0, "abcdxzywv"), "unknown sequences are ignored");
    put("\33[12\nq");
    OK(is(1, "q"), "a control character ends a sequence");
    put("\33]0;never ended\nr");
    OK(is(1, "qr") && is(2, ""), "a newline ends a text for the title");
}

static void test_looks(void)
{
    begin(20, 2);
    put("a\33[1mb\33[0;2mc\33[0;36md\33[1;31me\33[0mf\33[7mg\33[27;44mh\33[93mi\33[38;5;1;4mj\33[mk");
    OK(looks(0, TEXT_GREY, 0) && looks(1, TEXT_WHITE, 0) && looks(2, TEXT_DARK, 0),
       "plain, bold and dim text have their colors");
    OK(looks(3, 6, 0) && looks(4, 9, 0) && looks(5, TEXT_GREY, 0),
       "a reply and an error have their colors, and plain returns");
    OK(looks(6, 0, TEXT_GREY) && looks(7, TEXT_GREY, 4) && looks(8, 11, 4),
       "reversed text, a background and a bright one are shown");
    OK(looks(9, 11, 4) && looks(10, TEXT_GREY, 0), "colors out of 256 change nothing");
}

/* A typed text, taken back as without a terminal: BS, space, BS for each column. */
static void take_back(const char *text, unsigned columns)
{
    put(text);
    while (columns-- > 0)
        put("\b \b");
}

static void test_take_back(void)
{
    begin(10, 3);
    take_back("> one two three", 7);
    OK(is(0, "> one tw") && is(1, "") && at(0, 8), "BS goes back into the row above");
    begin(10, 3);
    take_back("> 34567890abc", 5);
    OK(is(0, ">") && is(1, "345678") && is(2, "") && at(1, 6), "BS goes back into a full row");
    begin(10, 3);
    take_back("> one three", 7);
    OK(is(0, "> on") && is(1, "") && at(0, 4), "BS goes back behind a word that was moved");
    begin(10, 3);
    take_back("> 34567890 b", 3);
    OK(is(0, "> 3456789") && is(1, "") && at(0, 9), "a space that was left out counts");
    put("xy z");
    OK(is(0, "> 3456789") && is(1, "xy z"), "text goes on from there");
    begin(10, 3);
    take_back("> 34567890   b", 5);
    OK(is(0, "> 3456789") && is(1, "") && at(0, 9), "so does each of several such spaces");
    begin(10, 3);
    take_back("> 34567890   b", 3);
    put("  c");
    OK(is(0, "> 34567890") && is(1, "c") && at(1, 1), "they are left out again");
    begin(10, 3);
    take_back("> \346\227\245\346\227\245\346\227\245\346\227\245\346\227\245", 4);
    OK(is(0, "> \346\227\245\346\227\245\346\227\245") && is(1, "") && at(0, 8),
       "wide characters are taken back");
    begin(10, 2);
    take_back("a\nb\n> one two three", 9);
    OK(is(0, "> one") && is(1, "") && at(0, 6), "BS goes back in rows that have scrolled");
    put("\r\nc\b\b\bd");
    OK(is(0, "> one") && is(1, "d"), "BS does not leave a line");
}

int main(void)
{
    test_take_back();
    test_text();
    test_wrap();
    test_scroll();
    test_sequences();
    test_looks();
    free(memory);
    return tap_done();
}
