/* The console's input: lines, the keys that edit them, and typing ahead. */
#include "tests/unit/console/played_terminal.h"

/* The first line of the input, whether it arrives at once or byte by byte. */
static bool reads(const char *in, const char *expected)
{
    bool same = true;

    for (size_t portion = 1; portion <= 64; portion += 63) {
        plug_in(in, strlen(in), portion, true);
        same = is(next_line(sizeof((struct reading *)0)->line), expected) && same;
    }
    return same;
}

static void test_lines(void)
{
    plug_in("one\ntwo\rthree\r\nfour\n\r\nend", 26, 3, true);
    OK(is(next_line(64), "one") && is(next_line(64), "two") && is(next_line(64), "three") &&
           is(next_line(64), "four") && is(next_line(64), ""),
       "LF, CR and CR LF each end a line");
    OK(is(next_line(64), "end"), "the end of input ends a line");
    OK(next_line(64).err == ERR_NO_DEVICE, "no line comes after the end of input");
    OK(wrote("one\r\ntwo\r\nthree\r\nfour\r\n\r\nend"), "typed characters are echoed");
    OK(terminal.idles > 0, "waiting sleeps");
    plug_in("x\n", 2, 64, true);
    {
        struct console_rig rig = { .putc = fake_putc,
                                   .getc = fake_getc,
                                   .ticks = fake_ticks,
                                   .hz = 1000000,
                                   .idle = fake_idle,
                                   .serial = true };

        console_rig_open(&rig);
        OK(is(next_line(64), "x") && wrote(""),
           "nothing is echoed if the far end has its own echo");
    }
}

static void test_editing(void)
{
    OK(reads("ax\bb\n", "ab"), "backspace takes a character back");
    OK(reads("ax\x7f"
             "b\n",
             "ab"),
       "DEL takes a character back");
    plug_in("ax\b\n", 4, 64, true);
    next_line(64);
    OK(wrote("ax\b \b\r\n"), "the screen shows that the character was taken back");
    OK(reads("a\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80\b\b\bb\n", "ab"),
       "backspace takes whole characters back");
    plug_in("\xe4\xb8\xad\b\n", 5, 64, true);
    next_line(64);
    OK(wrote("\xe4\xb8\xad\b \b\b \b\r\n"), "a wide character takes two columns");
    OK(reads("\b\x7f"
             "a\b\b\bb\n",
             "b"),
       "backspace does not go beyond the beginning");
    OK(reads("one two\x15three\n", "three"), "Ctrl-U takes the line back");
    OK(reads("one two  \x17"
             "2\n",
             "one 2"),
       "Ctrl-W takes a word back");
    OK(reads("\x17one\x17\x17"
             "b\n",
             "b"),
       "Ctrl-W at the beginning does nothing");
    OK(reads("a\tb\n", "a\tb"), "a tab is text without a terminal");
    plug_in("a\tb\b\b\n", 6, 64, true);
    next_line(64);
    OK(wrote("a b\b \b\b \b\r\n"), "and takes one column, so that it can be taken back");
    OK(reads("ab\x0f\x07\x12\x1f"
             "c\n",
             "abc"),
       "other control bytes are dropped");
    plug_in("a\0b\n", 4, 64, true);
    OK(is(next_line(64), "ab"), "a NUL is left out, too");
    OK(reads("a\x1b[Ab\x1b[1;5Cc\x1bOPd\x1b[3~e\x1bxf\n", "abcdef"),
       "escape sequences are swallowed");
    OK(reads("a\x1b[12\nb", "a"), "a paste does not count as the end of the line");
    OK(reads("a\x1b\xc3\xbc\n", "a\xc3\xbc"), "a paste does not count as a character");
    OK(reads("a\xc2\x9b"
             "b\n",
             "ab"),
       "C1 controls are dropped");
    OK(reads("a\xff"
             "b\xe2\x82\n",
             "a\xef\xbf\xbd"
             "b\xef\xbf\xbd"),
       "invalid UTF-8 becomes U+FFFD");
    OK(reads("\xe2\x82\b\xac"
             "x\n",
             "\xef\xbf\xbdx"),
       "backspace inside a character ends it");
    OK(reads("a\x04"
             "b\n",
             "ab"),
       "Ctrl-D does nothing in a line");
    plug_in("\x04z\n", 3, 64, true);
    OK(next_line(64).err == ERR_NO_DEVICE && is(next_line(64), "z"), "Ctrl-D ends an empty line");
    plug_in("abc\x03"
            "def\n",
            8, 64, true);
    {
        struct reading r = next_line(64);

        OK(r.err == ERR_ABORTED && r.bytes == 0 && r.line[0] == '\0' && wrote("abc^C\r\n") &&
               is(next_line(64), "def"),
           "Ctrl-C abandons only its own line");
    }
}

/* Text that comes faster than it can be drawn, in the middle of a line. */
static void test_paste_in_line(void)
{
    enum { BEFORE = 300, PASTED = 800, KEYS = 100, MOST = 2000, PORTION = 500 };
    static char in[2 * MOST], line[MOST];
    size_t n = 0, bytes;

    memset(in, 'x', BEFORE);
    n += BEFORE;
    n += (size_t)sprintf(in + n, "\33[D\33[200~");
    memset(in + n, 'y', PASTED);
    n += PASTED;
    n += (size_t)sprintf(in + n, "\33[201~\5");
    memset(in + n, '\b', KEYS);
    n += KEYS;
    in[n++] = '\r';
    plug_in(in, n, PORTION, true);
    console_find_terminal(&console, CONSOLE_VT);
    OK(console_read_line(&console, "", line, sizeof line, &bytes) == ERR_OK &&
           bytes == BEFORE + PASTED - KEYS && line[0] == 'x' && line[bytes - 1] == 'y',
       "a long text is pasted into a line");
    OK(terminal.out_bytes < 6 * (BEFORE + PASTED), "the line is not drawn for each byte (%zu)",
       terminal.out_bytes);
}

static void test_long_lines(void)
{
    enum { LONG = 100000 };
    char *in = malloc(LONG + 32);
    struct reading r;

    plug_in("abc\nabcd\nab\xc3\xbc\n\n", 15, 64, true);
    OK(is(next_line(4), "abc"), "three bytes and a NUL fit four");
    OK(next_line(4).err == ERR_TOO_LONG, "four bytes and a NUL do not fit four");
    OK(next_line(4).err == ERR_TOO_LONG, "a character that crosses the end does not fit");
    r = next_line(1);
    OK(is(r, "") && r.line[1] == '#', "no line fits one byte, and nothing is written behind it");
    plug_in("abcdefgh\x15"
            "ab\nabcdef\b\b\b\b\n",
            22, 64, true);
    OK(is(next_line(4), "ab"), "Ctrl-U starts a line again that was too long");
    OK(next_line(4).err == ERR_TOO_LONG, "backspace does not start a line again that was too long");

    memset(in, 'y', LONG);
    memcpy(in + LONG, "\nnext\n", 6);
    for (size_t portion = 7; portion < 200000; portion *= 100) {
        plug_in(in, LONG + 6, portion, true);
        r = next_line(64);
        OK(r.err == ERR_TOO_LONG && r.bytes == 0 && r.line[0] == '\0' && is(next_line(64), "next"),
           "100 kB in portions of %zu are too long, and the next line is whole", portion);
    }
    plug_in(in, LONG, 1000, true);
    OK(next_line(64).err == ERR_TOO_LONG && next_line(64).err == ERR_NO_DEVICE,
       "a line without an end is too long, too");
    free(in);
}

/* ---- while the machine works ---- */

static void test_typed_ahead(void)
{
    static char in[3 * CONSOLE_RING_BYTES];
    size_t lines = 0;

    plug_in("first\nsecond\n\x03third\n", 20, 6, true);
    OK(is(next_line(64), "first") && !console_aborted(&console), "no Ctrl-C has come yet");
    terminal.arrived = 64;
    OK(console_aborted(&console) && console_aborted(&console), "Ctrl-C is noticed at work");
    OK(console_has_input(&console), "typed characters wait");
    OK(is(next_line(64), "second") && is(next_line(64), "third"), "no typed character is lost");
    OK(!console_aborted(&console), "a new line forgets the Ctrl-C");
    OK(!console_has_input(&console), "nothing waits at the end");
    plug_in("go\nmore\x03\n", 9, 64, true);
    OK(is(next_line(64), "go") && console_aborted(&console) && is(next_line(64), "more"),
       "a Ctrl-C that came with the line stops what the line starts");
    for (size_t i = 0; i < sizeof in; i++) {
        in[i] = i % 32 == 31 ? '\n' : 'q';
    }
    plug_in(in, sizeof in, sizeof in, true);
    console_poll(&console);
    console_poll(&console);
    OK(terminal.at == CONSOLE_RING_BYTES, "a full ring leaves the rest with the device");
    while (next_line(64).bytes == 31) {
        lines++;
    }
    OK(lines == sizeof in / 32, "all bytes are read in the end");
    plug_in("no\n", 3, 1, true);
    terminal.closes = false;
    OK(is(next_line(64), "no"), "a slow typist gets a line");
}

static void pass_time(void *context)
{
    (void)context;
    terminal.ticks += 20000;
    if (terminal.ticks % 1000000 == 500000)
        terminal.arrived++;
}

/* A program that is gone says nothing more. */
static void test_silence(void)
{
    char line[64];
    size_t bytes;

    plug_in("one\ntwo\n", 8, 1, false);
    terminal.closes = false;
    console_platform.console.nap = pass_time;
    console_set_silence(&console, 3000);
    OK(console_read_line(&console, NULL, line, sizeof line, &bytes) == ERR_OK &&
           strcmp(line, "one") == 0,
       "a line of a byte a second comes if three seconds may go by");
    OK(console_read_line(&console, NULL, line, sizeof line, &bytes) == ERR_OK &&
           console_read_line(&console, NULL, line, sizeof line, &bytes) == ERR_TIMEOUT &&
           bytes == 0,
       "silence ends the wait for a slow line");
    OK(terminal.ticks > 500000 + 9900000 && terminal.ticks < 500000 + 10500000,
       "the wait for a slow line ends after three seconds");
    console_platform.console.nap = NULL;
}

/* Whether cursor up brings back anything after the line. */
static bool forgets(const char *line)
{
    char in[200];
    int bytes = snprintf(in, sizeof in, "%s\n\33[A\33[Anow\n", line);

    plug_in(in, (size_t)bytes, 64, true);
    console_find_terminal(&console, CONSOLE_VT);
    (void)next_line(64);
    return is(next_line(64), "now");
}

/* The next person at the line gets nothing of what was typed and shown before. */
static void test_forgotten(void)
{
    static const char in[] = "secret\nmore\n\33[A\33[Anow\n\33[Aagain\n";
    size_t before;

    plug_in(in, sizeof in - 1, 64, true);
    console_find_terminal(&console, CONSOLE_VT);
    OK(is(next_line(64), "secret") && is(next_line(64), "more"), "two lines are read");
    before = terminal.out_bytes;
    console_forget(&console);
    OK(memmem(terminal.out + before, terminal.out_bytes - before, "\33[2J\33[3J", 8) != NULL,
       "earlier lines are forgotten: the screen is erased, and what has scrolled off it");
    OK(is(next_line(64), "now"), "the cursor keys do not bring earlier lines back");
    OK(is(next_line(64), "nowagain"), "keys that are typed after the cursor keys count");
    OK(forgets("/unlock 2718") && forgets(" /unlock 2718") && forgets("/unlok 2718") &&
           forgets("/ulock 2718"),
       "a PIN is not remembered, nor is one behind a mistyped word");
    OK(!forgets("/undo") && !forgets("unlock"), "other lines are remembered");
    plug_in("", 0, 0, true);
    console_find_terminal(&console, CONSOLE_PLAIN);
    console_forget(&console);
    OK(wrote(""), "no control sequence is sent without a known terminal");
}

int main(void)
{
    test_lines();
    test_editing();
    test_paste_in_line();
    test_long_lines();
    test_typed_ahead();
    test_silence();
    test_forgotten();
    return tap_done();
}
