/* The line editor: each kind of key, the ends of a line, its history and the terminal's width. */
#include "tests/unit/console/line_editor_rig.h"

static void test_plain(void)
{
    open_editor(80, false);
    type("caf\xc3\xa9 \xe4\xb8\xad\x7f\x7f!\10?");
    OK(strcmp(line, "caf\xc3\xa9?") == 0 && term.escapes == 0,
       "without a terminal only text and BS are sent, no control sequences (\"%s\")", line);
    OK(term.column == 7 && term.cells[0][6] == '?' && term.cells[0][7] == ' ',
       "the screen shows the line");
    type("\33[D\33[DX");
    OK(editor.terminal && strcmp(line, "cafX\xc3\xa9?") == 0,
       "the first arrow key shows that there is a terminal");
    OK(term.cells[0][5] == 'X' && term.cells[0][6] == 0xe9 && term.column == 6,
       "the screen follows the arrow key");
}

/* e with an acute and a dot below, then x: two characters, whatever is done to them. */
static void test_marks(void)
{
    open_editor(80, true);
    type("e\xcc\x81\xcc\xa3x\33[D\33[D");
    OK(editor.cursor == 0 && term.column == 2, "the left arrow goes over a base with its marks");
    type("\33[C");
    OK(editor.cursor == 5 && term.column == 3,
       "the right arrow goes over a base with its marks as well");
    type("\x7f");
    OK(strcmp(line, "x") == 0 && term.column == 2, "backspace takes a base and its marks together");
    type("\1e\xcc\x81\xcc\xa3\1\33[3~");
    OK(strcmp(line, "x") == 0, "delete takes a base and its marks together, too");
    open_editor(80, false);
    type("ae\xcc\x81\xcc\xa3\x7f");
    OK(strcmp(line, "a") == 0 && term.column == 3,
       "backspace takes a base and its marks without a terminal, too");
    type("\xe0\xa4\x95\xe0\xa4\xbf\x7f");
    OK(strcmp(line, "a") == 0 && char_joins(0x93f) && char_width(0x93f) == 1,
       "a mark that takes a column of its own goes with its base");
    OK(char_joins(0x200d) && char_joins(0xfe0f) && !char_joins('e') && char_width(0x300) == 0 &&
           char_width(0x3099) == 0,
       "a character that joins the one before it is recognized");
}

static void test_ends(void)
{
    open_editor(80, false);
    OK(type("hello\r") == LINE_FINISHED && editor.n == 5, "Enter finishes the line");
    line_editor_begin(&editor, "> ", line, sizeof line);
    OK(type("\n") == LINE_MORE, "the LF of a CR LF is not a line");
    OK(type("\n") == LINE_FINISHED && editor.n == 0, "a second CR is an empty line");
    line_editor_begin(&editor, "> ", line, sizeof line);
    OK(type("half\3") == LINE_ABORTED, "Ctrl-C aborts the line");
    line_editor_begin(&editor, "> ", line, sizeof line);
    OK(type("\4") == LINE_END, "Ctrl-D on an empty line ends the input");
    line_editor_begin(&editor, "> ", line, 6);
    OK(type("123456\r") == LINE_TOO_LONG && strcmp(line, "12345") == 0,
       "a line that is too long is reported");
    line_editor_begin(&editor, "> ", line, 6);
    OK(type("123456\x7f"
            "7\r") == LINE_TOO_LONG,
       "backspace does not bring back text that was cut off");
    line_editor_begin(&editor, "> ", line, 6);
    OK(type("123456\25"
            "7\r") == LINE_FINISHED &&
           strcmp(line, "7") == 0,
       "Ctrl-U clears the line");
    line_editor_begin(&editor, "> ", line, sizeof line);
    OK(type("a\xff\xc3(\r") == LINE_FINISHED &&
           strcmp(line, "a" UTF8_REPLACEMENT UTF8_REPLACEMENT "(") == 0,
       "bytes that are not UTF-8 become U+FFFD");
    line_editor_begin(&editor, "> ", line, sizeof line);
    type("a\xc3");
    OK(line_editor_close(&editor) == LINE_FINISHED && strcmp(line, "a" UTF8_REPLACEMENT) == 0,
       "the end of the input finishes a line");
    line_editor_begin(&editor, "> ", line, sizeof line);
    OK(line_editor_close(&editor) == LINE_END, "the end of the input ends an empty line");
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
    OK(strcmp(line, "three") == 0, "the up arrow brings the last line (\"%s\")", line);
    type("\33[A");
    OK(strcmp(line, "two") == 0, "the up arrow brings the line before that (\"%s\")", line);
    type("\33[A");
    OK(strcmp(line, "one") == 0, "the same line twice is kept once (\"%s\")", line);
    type("\33[A");
    OK(strcmp(line, "one") == 0, "there is no older line");
    type("\33[B\16");
    OK(strcmp(line, "three") == 0, "the down arrow and Ctrl-N go forward");
    type("\33[B");
    OK(strcmp(line, "") == 0, "the down arrow reaches the new line");
    type("\20!\r");
    OK(strcmp(line, "three!") == 0, "Ctrl-P goes back, and typing goes on from there");
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
    OK(strlen(line) == sizeof text - 1, "the history's oldest line is whole");
    line_editor_begin(&editor, "> ", line, 10);
    type("\33[A");
    OK(editor.n == 0, "a line that is longer than its room is not recalled");
}

/* Text that was typed before a look into the history comes back. */
static void test_typed(void)
{
    static char long_text[LINE_HISTORY_BYTES + 8];

    open_editor(80, true);
    enter("one");
    enter("two");
    line_editor_begin(&editor, "> ", line, sizeof line);
    type("half a thought\33[A\33[A");
    OK(strcmp(line, "one") == 0, "the up arrow brings old lines in place of typed text");
    type("\33[B\33[B");
    OK(strcmp(line, "half a thought") == 0, "the down arrow brings back what was typed (\"%s\")",
       line);
    type(" more\33[B");
    OK(strcmp(line, "half a thought more") == 0, "there is nothing newer");
    type("\33[A\33[B");
    OK(strcmp(line, "half a thought more") == 0, "it comes back as it was left (\"%s\")", line);
    type("\33[A\r");
    line_editor_begin(&editor, "> ", line, sizeof line);
    type("\33[A\33[A\33[A\33[A");
    OK(strcmp(line, "one") == 0, "a line that was not sent is not in the history");
    line_editor_begin(&editor, "> ", line, sizeof line);
    type("/unlock 1234\33[A\r");
    OK(memmem(editor.history.text, sizeof editor.history.text, "1234", 4) == NULL,
       "nothing is left of it");
    memset(long_text, 'x', sizeof long_text - 1);
    line_editor_begin(&editor, "> ", long_text, sizeof long_text);
    for (unsigned i = 0; i + 1 < sizeof long_text; i++) {
        type("y");
    }
    type("\33[A");
    OK(editor.n == sizeof long_text - 1 && long_text[0] == 'y',
       "text for which the history has no room stays");
}

static void test_pastes(void)
{
    open_editor(80, true);
    type("a\tb");
    OK(strcmp(line, "ab") == 0, "the tab key of a terminal does nothing");
    type("\33[200~\tc\td\33[201~");
    OK(strcmp(line, "ab\tc\td") == 0 && term.cells[0][4] == ' ' && term.cells[0][5] == 'c' &&
           term.column == 8,
       "pasted tabs are text, and take a column each");
    type("\x7f\x7f");
    OK(strcmp(line, "ab\tc") == 0 && term.column == 6, "backspace takes a tab back");
    open_editor(80, true);
    enter("old");
    line_editor_begin(&editor, "> ", line, sizeof line);
    OK(type("\33[200~\4x\25\x7f\33[A\33[D\1y\27\33[3~\33[31mz\33[201~") == LINE_MORE &&
           strcmp(line, "xyz") == 0,
       "pasted control bytes and sequences are not keys (\"%s\")", line);
    OK(type("\33[200~a\3") == LINE_ABORTED, "Ctrl-C leaves a paste without an end");
    open_editor(80, true);
    type("one two three\33\x7f");
    OK(strcmp(line, "one two ") == 0, "Alt-Backspace takes a word back (\"%s\")", line);
    type("\33\b\1\33[3;5~");
    OK(strcmp(line, " ") == 0, "Ctrl-Delete takes a word after the cursor (\"%s\")", line);
    open_editor(80, true);
    type("a\33[[A\33[[Eb");
    OK(strcmp(line, "ab") == 0, "F1 to F5 of the Linux console type nothing (\"%s\")", line);
}

static void test_width(void)
{
    open_editor(40, true);
    type("some text");
    line_editor_ask_width(&editor);
    OK(term.asked == 1 && term.column == 11, "the width is asked for without moving the cursor");
    type("\33[1;40R\33[1;17R");
    OK(editor.columns == 17 && strcmp(line, "some text") == 0, "the answer does not become text");
    type("\33[1R\33[;R\33[9;0R\33[12345678901234567890;5R");
    OK(editor.columns == 17, "bytes that are not an answer are ignored (%u)",
       (unsigned)editor.columns);
    type("\33[1;2R\33[1;8R");
    OK(editor.columns == 17, "F3 with Shift or Ctrl is not an answer (%u)",
       (unsigned)editor.columns);
    type("\f");
    OK(term.row == 0 && term.cells[0][0] == '>' && term.asked == 2,
       "Ctrl-L clears the screen and draws the line");
    open_editor(40, true);
    OK(term.pastes == 1, "a terminal is asked to mark pastes");
    type("abcdefghijklmnopqrstuvwxyz");
    term.columns = 17;
    type("\33[1;17R");
    OK(term.cells[0][15] == 'n' && term.cells[0][16] == 0 && term.cells[1][0] == 'o' &&
           term.row == 1 && term.column == 12,
       "a narrower window gets the line anew");
    open_editor(40, false);
    OK(term.pastes == 0, "only a terminal is asked to mark pastes");
}

int main(void)
{
    test_plain();
    test_marks();
    test_ends();
    test_history();
    test_typed();
    test_pastes();
    test_width();
    return tap_done();
}
