/* The console against a terminal played here: a script of input that arrives in portions, a
 * clock that the test turns, and everything written kept. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/console/console_rig.h"
#include "tests/unit/tap.h"

enum { OUT_BYTES = 1 << 20, IDLE_LIMIT = 1000000 };

static struct {
    const char *in;
    size_t in_bytes, at;
    size_t portion; /* bytes that arrive between two sleeps */
    size_t arrived;
    bool closes;               /* at the end of the script the far end hangs up */
    uint64_t ticks, tick_step; /* time that passes whenever somebody looks */
    unsigned idles;
    char out[OUT_BYTES];
    size_t out_bytes;
} terminal;

static void fake_putc(void *context, char c)
{
    (void)context;
    if (terminal.out_bytes == OUT_BYTES) {
        abort();
    }
    terminal.out[terminal.out_bytes++] = c;
}

static int fake_getc(void *context)
{
    (void)context;
    if (terminal.at < terminal.in_bytes && terminal.at < terminal.arrived) {
        return (unsigned char)terminal.in[terminal.at++];
    }
    return terminal.at == terminal.in_bytes && terminal.closes ? CONSOLE_CLOSED : CONSOLE_NO_BYTE;
}

static uint64_t fake_ticks(void *context)
{
    (void)context;
    terminal.ticks += terminal.tick_step;
    return terminal.ticks;
}

/* Input that never comes would hang the test: stop it instead. */
static void fake_idle(void *context)
{
    (void)context;
    terminal.arrived += terminal.portion;
    if (++terminal.idles > IDLE_LIMIT) {
        printf("Bail out! waits for input that does not come\n");
        exit(1);
    }
}

static void plug_in(const char *in, size_t bytes, size_t portion, bool serial)
{
    struct console_rig rig = { .putc = fake_putc,
                               .getc = fake_getc,
                               .ticks = fake_ticks,
                               .hz = 1000000,
                               .start = 500000,
                               .idle = fake_idle,
                               .serial = serial,
                               .echo = true };

    memset(&terminal, 0, sizeof terminal);
    terminal.in = in;
    terminal.in_bytes = bytes;
    terminal.portion = terminal.arrived = portion;
    terminal.ticks = 500000;
    terminal.closes = true;
    console_rig_open(&rig);
}

static bool wrote(const char *expected)
{
    bool same = terminal.out_bytes == strlen(expected) &&
                memcmp(terminal.out, expected, terminal.out_bytes) == 0;

    if (!same) {
        printf("# wrote \"");
        for (size_t i = 0; i < terminal.out_bytes && i < 400; i++) {
            unsigned char c = (unsigned char)terminal.out[i];

            printf(c >= 32 && c < 127 ? "%c" : "\\x%02x", c);
        }
        printf("\"\n");
    }
    terminal.out_bytes = 0;
    return same;
}

/* ---- output ---- */

static void test_output(void)
{
    plug_in("", 0, 0, true);
    console_write(&console, "a\nb", 3);
    OK(wrote("a\r\nb"), "LF as CR LF on a serial line");
    console_printf(&console, "%s=%d\n", "x", -7);
    OK(wrote("x=-7\r\n"), "printf");
    terminal.ticks = 500000 + 1234567;
    console_log(&console, "card of %u MiB", 64u);
    OK(wrote("[    1.234] card of 64 MiB\r\n"), "a log line");
    console_write(&console, "> ", 2);
    console_log(&console, "late");
    OK(wrote("> \r\n[    1.234] late\r\n"), "a log line starts on a line of its own");
    terminal.ticks += UINT64_C(123456) * 1000000;
    console_log(&console, "old");
    OK(wrote("[123457.234] old\r\n"), "large times widen the stamp");
    plug_in("", 0, 0, false);
    console_write(&console, "a\n", 2);
    OK(wrote("a\n"), "LF alone on a terminal that is not serial");
    {
        static char text[3 * CONSOLE_PRINT_BYTES];

        memset(text, 'x', sizeof text - 1);
        console_printf(&console, "%s", text);
        OK(terminal.out_bytes == CONSOLE_PRINT_BYTES - 1, "a text too long is cut");
    }
}

static void test_progress(void)
{
    plug_in("", 0, 0, true);
    console_find_terminal(&console, CONSOLE_VT);
    console_progress(&console, "loading", 0, 1 << 20);
    terminal.ticks += 499000;
    console_progress(&console, "loading", 1 << 19, 1 << 20);
    OK(wrote(""), "no progress line in the first half second");
    terminal.ticks += 1000;
    console_progress(&console, "loading", 1 << 19, 1 << 20);
    OK(wrote("\33[2m\r[    0.500] loading 50 %, 512.0 KiB of 1.00 MiB, 1.0 MB/s, 1 s left\33[0m"),
       "then one");
    terminal.ticks += 99000;
    console_progress(&console, "loading", 600 << 10, 1 << 20);
    OK(wrote(""), "not sooner than 100 ms after the one before");
    terminal.ticks += 1000;
    console_progress(&console, "loading", 1000000, 1 << 20);
    OK(wrote("\33[2m\r[    0.600] loading 95 %, 976.6 KiB of 1.00 MiB, 1.7 MB/s, 0 s left\33[0m"),
       "over the old one");
    console_progress(&console, "loading", 1 << 20, 1 << 20);
    console_progress_end(&console);
    OK(wrote(
           "\33[2m\r[    0.600] loading 100 %, 1.00 MiB of 1.00 MiB, 1.7 MB/s          \33[0m\r\n"),
       "its end");
    console_progress_end(&console);
    OK(wrote(""), "and no second end");
    console_progress(&console, "loading", 0, 0);
    terminal.ticks += 600000;
    console_progress(&console, "loading", 0, 0);
    OK(wrote("\33[2m\r[    1.200] loading 100 %, 0 B of 0 B, 0.0 MB/s\33[0m"),
       "nothing to load is no division by zero");
    console_log(&console, "interrupted");
    OK(wrote("\33[2m\r\n[    1.200] interrupted\33[0m\r\n"), "a log line ends the progress line");
    terminal.ticks += 100000;
    console_progress(&console, "x", 5, 1000);
    OK(wrote("\33[2m\r[    1.300] x 0 %, 5 B of 1000 B, 0.0 MB/s, 139 s left\33[0m"),
       "which goes on below");
    terminal.ticks += 100000;
    console_progress(&console, "x", 5, 9);
    OK(wrote("\33[2m\r[    1.400] x 55 %, 5 B of 9 B, 0.0 MB/s, 1 s left    \33[0m"),
       "a shorter line covers the longer");
    console_progress_end(&console);
    OK(wrote("\33[2m\r[    1.400] x 55 %, 5 B of 9 B, 0.0 MB/s, 1 s left\33[0m\r\n"), "and ends");
    console_progress_share(&console, "prompt", 1, 4);
    terminal.ticks += 600000;
    console_progress_share(&console, "prompt", 2, 4);
    OK(wrote("\33[2m\r[    2.000] prompt 50 %, 1 s left\33[0m"), "a share has no sizes");
    console_progress_end(&console);
}

/* Where lines stay as they are: one after a second, then after five and after an eighth. */
static void test_plain_progress(void)
{
    unsigned lines = 0;

    plug_in("", 0, 0, true);
    for (unsigned ms = 0; ms <= 1000; ms += 100, terminal.ticks += 100000) {
        console_progress(&console, "loading", 10 + ms, 100000);
    }
    OK(wrote("[    1.000] loading 1 %, 1010 B of 97.7 KiB, 0.0 MB/s, 98 s left\r\n"),
       "no terminal: a line after a second");
    for (unsigned ms = 1100; ms <= 98000; ms += 100, terminal.ticks += 100000) {
        console_progress(&console, "loading", 10 + ms, 100000);
    }
    for (size_t i = 0; i < terminal.out_bytes; i++) {
        lines += terminal.out[i] == '\n';
    }
    OK(lines == 14 && memchr(terminal.out, 27, terminal.out_bytes) == NULL,
       "and %u more in 97 seconds, without a control sequence", lines);
    wrote("");
    console_progress_end(&console);
    OK(wrote("[   98.100] loading 98 %, 95.7 KiB of 97.7 KiB, 0.0 MB/s, 2 s left\r\n"),
       "and the end");
    console_progress(&console, "short", 0, 2);
    terminal.ticks += 900000;
    console_progress(&console, "short", 1, 2);
    console_progress_end(&console);
    OK(wrote(""), "nothing of a wait that is over within the second");
}

/* ---- lines ---- */

struct reading {
    char line[64];
    size_t bytes;
    enum err err;
};

static struct reading next_line(size_t max)
{
    struct reading r;

    memset(&r, '#', sizeof r);
    r.err = console_read_line(&console, "", r.line, max, &r.bytes);
    return r;
}

static bool is(struct reading r, const char *expected)
{
    bool same = r.err == ERR_OK && r.bytes == strlen(expected) && strcmp(r.line, expected) == 0;

    if (!same) {
        printf("# read %d \"%s\"\n", r.err, r.line);
    }
    return same;
}

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
    OK(is(next_line(64), "end"), "as does the end of input");
    OK(next_line(64).err == ERR_NO_DEVICE, "after which nothing comes");
    OK(wrote("one\r\ntwo\r\nthree\r\nfour\r\n\r\nend"), "what was typed is echoed");
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
        OK(is(next_line(64), "x") && wrote(""), "no echo where the far end has its own");
    }
}

static void test_editing(void)
{
    OK(reads("ax\bb\n", "ab"), "backspace");
    OK(reads("ax\x7f"
             "b\n",
             "ab"),
       "DEL");
    plug_in("ax\b\n", 4, 64, true);
    next_line(64);
    OK(wrote("ax\b \b\r\n"), "on the screen too");
    OK(reads("a\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80\b\b\bb\n", "ab"), "over whole characters");
    plug_in("\xe4\xb8\xad\b\n", 5, 64, true);
    next_line(64);
    OK(wrote("\xe4\xb8\xad\b \b\b \b\r\n"), "a wide character takes two columns");
    OK(reads("\b\x7f"
             "a\b\b\bb\n",
             "b"),
       "not beyond the beginning");
    OK(reads("one two\x15three\n", "three"), "Ctrl-U");
    OK(reads("one two  \x17"
             "2\n",
             "one 2"),
       "Ctrl-W");
    OK(reads("\x17one\x17\x17"
             "b\n",
             "b"),
       "Ctrl-W at the beginning");
    OK(reads("a\tb\x0f\x07\x12\x1f"
             "c\n",
             "abc"),
       "other control bytes are dropped");
    plug_in("a\0b\n", 4, 64, true);
    OK(is(next_line(64), "ab"), "NUL too");
    OK(reads("a\x1b[Ab\x1b[1;5Cc\x1bOPd\x1b[3~e\x1bxf\n", "abcdef"),
       "escape sequences are swallowed");
    OK(reads("a\x1b[12\nb", "a"), "but not the end of the line");
    OK(reads("a\x1b\xc3\xbc\n", "a\xc3\xbc"), "nor a character");
    OK(reads("a\xc2\x9b"
             "b\n",
             "ab"),
       "C1 controls are dropped");
    OK(reads("a\xff"
             "b\xe2\x82\n",
             "a\xef\xbf\xbd"
             "b\xef\xbf\xbd"),
       "invalid UTF-8 as U+FFFD");
    OK(reads("\xe2\x82\b\xac"
             "x\n",
             "\xef\xbf\xbdx"),
       "backspace in the middle of a character");
    OK(reads("a\x04"
             "b\n",
             "ab"),
       "Ctrl-D does nothing in a line");
    plug_in("\x04z\n", 3, 64, true);
    OK(next_line(64).err == ERR_NO_DEVICE && is(next_line(64), "z"), "and ends an empty one");
    plug_in("abc\x03"
            "def\n",
            8, 64, true);
    {
        struct reading r = next_line(64);

        OK(r.err == ERR_ABORTED && r.bytes == 0 && r.line[0] == '\0' && wrote("abc^C\r\n") &&
               is(next_line(64), "def"),
           "Ctrl-C abandons the line, and no more");
    }
}

static void test_long_lines(void)
{
    enum { LONG = 100000 };
    char *in = malloc(LONG + 32);
    struct reading r;

    plug_in("abc\nabcd\nab\xc3\xbc\n\n", 15, 64, true);
    OK(is(next_line(4), "abc"), "three bytes and a NUL fit four");
    OK(next_line(4).err == ERR_TOO_LONG, "four do not");
    OK(next_line(4).err == ERR_TOO_LONG, "nor a character that crosses the end");
    r = next_line(1);
    OK(is(r, "") && r.line[1] == '#', "nothing fits one, and nothing is written behind it");
    plug_in("abcdefgh\x15"
            "ab\nabcdef\b\b\b\b\n",
            22, 64, true);
    OK(is(next_line(4), "ab"), "Ctrl-U starts a line again that was too long");
    OK(next_line(4).err == ERR_TOO_LONG, "backspace does not");

    memset(in, 'y', LONG);
    memcpy(in + LONG, "\nnext\n", 6);
    for (size_t portion = 7; portion < 200000; portion *= 100) {
        plug_in(in, LONG + 6, portion, true);
        r = next_line(64);
        OK(r.err == ERR_TOO_LONG && r.bytes == 0 && r.line[0] == '\0' && is(next_line(64), "next"),
           "100 kB in portions of %zu: too long, and the next line is whole", portion);
    }
    plug_in(in, LONG, 1000, true);
    OK(next_line(64).err == ERR_TOO_LONG && next_line(64).err == ERR_NO_DEVICE,
       "the same without an end");
    free(in);
}

/* ---- while the machine works ---- */

static void test_typed_ahead(void)
{
    static char in[3 * CONSOLE_RING_BYTES];
    size_t lines = 0;

    plug_in("first\nsecond\n\x03third\n", 20, 6, true);
    OK(is(next_line(64), "first") && !console_aborted(&console), "no Ctrl-C yet");
    terminal.arrived = 64;
    OK(console_aborted(&console) && console_aborted(&console), "Ctrl-C is noticed at work");
    OK(console_has_input(&console), "what was typed waits");
    OK(is(next_line(64), "second") && is(next_line(64), "third"), "and none of it is lost");
    OK(!console_aborted(&console), "a new line forgets the Ctrl-C");
    OK(!console_has_input(&console), "nothing waits at the end");
    plug_in("go\nmore\x03\n", 9, 64, true);
    OK(is(next_line(64), "go") && console_aborted(&console) && is(next_line(64), "more"),
       "Ctrl-C that came with the line stops what the line starts");
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
    OK(lines == sizeof in / 32, "and all of it is read in the end");
    plug_in("no\n", 3, 1, true);
    terminal.closes = false;
    OK(is(next_line(64), "no"), "a slow typist");
}

/* ---- a terminal or none ---- */

#define QUESTION         \
    "\33"                \
    "7\33[999C\33[6n\33" \
    "8"

static bool finds(const char *in, size_t portion)
{
    plug_in(in, strlen(in), portion, true);
    terminal.tick_step = 100; /* of a million in a second */
    terminal.closes = false;
    console_find_terminal(&console, CONSOLE_AUTO);
    return console_is_terminal(&console);
}

static void test_terminal(void)
{
    static const char keys[] = "\33[1;40R\33[Aab\33[Dc\x01"
                               "d\x0c\33[200~\re\33[201~\n";

    OK(finds("\33[1;90R", 64) && wrote(QUESTION "\r") && !console_has_input(&console) &&
           terminal.ticks < 550000,
       "a terminal answers at once");
    OK(finds("one\n\33[24;132Rtwo\n", 64) && is(next_line(64), "one") && is(next_line(64), "two"),
       "and what was typed around its answer is input");
    OK(!finds("one\n\33[Ax\33[5;Rtwo\33", 64) && terminal.ticks - 500000 >= 150000 &&
           terminal.ticks - 500000 < 152000 && wrote(QUESTION "\r"),
       "no answer within 150 ms: none");
    OK(is(next_line(64), "one"), "and nothing of the input is lost");
    OK(!finds("", 0), "silence");
    console_log(&console, "error: loud");
    console_style(&console, CONSOLE_REPLY);
    console_printf(&console, "error: %d\n", 1);
    console_style(&console, CONSOLE_NORMAL);
    OK(wrote(QUESTION "\r[    0.150] error: loud\r\nerror: 1\r\n"), "gets no colour");
    plug_in("\33[1;40R\n", 9, 64, true);
    OK(is(next_line(64), "") && console_is_terminal(&console), "a late answer counts as well");
    plug_in(keys, sizeof keys - 1, 64, true);
    console_find_terminal(&console, CONSOLE_PLAIN);
    OK(is(next_line(64), "abcd\ne") && !console_is_terminal(&console) &&
           memchr(terminal.out, 27, terminal.out_bytes) == NULL,
       "term=plain stays so, whatever comes");
    wrote("");
    plug_in("x\n", 2, 64, true);
    console_find_terminal(&console, CONSOLE_VT);
    OK(wrote("") && console_is_terminal(&console), "term=vt is not asked");
    plug_in("", 0, 0, true);
    terminal.tick_step = 100;
    console_find_terminal(&console, CONSOLE_AUTO);
    OK(!console_is_terminal(&console) && terminal.ticks < 501000,
       "who has hung up is not waited for");
}

static void test_styles(void)
{
    plug_in("x\n", 2, 64, true);
    console_find_terminal(&console, CONSOLE_VT);
    console_log(&console, "fine");
    console_log(&console, "warning: hm");
    OK(wrote("\33[2m[    0.000] fine\33[0m\r\n\33[1m[    0.000] warning: hm\33[0m\r\n"),
       "log lines are dim, warnings are not");
    console_style(&console, CONSOLE_REPLY);
    console_style(&console, CONSOLE_REPLY);
    console_write(&console, "Hel", 3);
    console_log(&console, "x");
    console_write(&console, "lo", 2);
    console_printf(&console, "\nerror: y\n");
    console_style(&console, CONSOLE_NORMAL);
    OK(wrote("\33[36mHel\r\n\33[0m\33[2m[    0.000] x\33[0m\33[36m\r\nlo\33[0m\33[1;31m\r\n"
             "error: y\r\n\33[0m\33[36m\33[0m"),
       "and what they interrupt goes on as it was");
    console_repeat_log(&console);
    OK(wrote("\33[2m[    0.000] fine\r\n[    0.000] warning: hm\r\n[    0.000] x\r\n\33[0m"),
       "no colour is kept with the log");
    {
        char line[8];
        size_t bytes;

        (void)console_read_line(&console, "> ", line, sizeof line, &bytes);
    }
    OK(wrote(QUESTION "\33[?2004h\33[1m> \33[0mx\r\n"), "the prompt stands out");
}

int main(void)
{
    console_write(&console, "early", 5);
    OK(console_millis(&console) == 0 && !console_aborted(&console),
       "before console_open() nothing breaks");
    test_output();
    test_progress();
    test_plain_progress();
    test_lines();
    test_terminal();
    test_styles();
    test_editing();
    test_long_lines();
    test_typed_ahead();
    return tap_done();
}
