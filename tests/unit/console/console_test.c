/* The console's output: log lines, progress, whether there is a terminal, and its styles. */
#include "tests/unit/console/played_terminal.h"

#define GONE "\r\33[J" /* the progress line */

/* ---- output ---- */

static void test_output(void)
{
    plug_in("", 0, 0, true);
    console_write(&console, "a\nb", 3);
    OK(wrote("a\r\nb"), "LF becomes CR LF on a serial line");
    console_printf(&console, "%s=%d\n", "x", -7);
    OK(wrote("x=-7\r\n"), "printf writes a number");
    terminal.ticks = 500000 + 1234567;
    console_log(&console, "card of %u MiB", 64u);
    OK(wrote("[    1.234] card of 64 MiB\r\n"), "a log line has its time");
    console_write(&console, "> ", 2);
    console_log(&console, "late");
    OK(wrote("> \r\n[    1.234] late\r\n"), "a log line starts on a line of its own");
    terminal.ticks += UINT64_C(123456) * 1000000;
    console_log(&console, "old");
    OK(wrote("[123457.234] old\r\n"), "a large time widens the stamp");
    plug_in("", 0, 0, false);
    console_write(&console, "a\n", 2);
    OK(wrote("a\n"), "LF stays alone on a terminal that is not serial");
    {
        static char text[3 * CONSOLE_PRINT_BYTES];

        memset(text, 'x', sizeof text - 1);
        console_printf(&console, "%s", text);
        OK(terminal.out_bytes == CONSOLE_PRINT_BYTES - 1, "a text that is too long is cut");
        terminal.out_bytes = 0;
        console_printf(&console, "%s: no\n", text);
        OK(terminal.out_bytes == CONSOLE_PRINT_BYTES - 1 &&
               terminal.out[CONSOLE_PRINT_BYTES - 2] == '\n',
           "a line that is too long is cut, and ends");
    }
}

static void test_progress(void)
{
    plug_in("", 0, 0, true);
    console_find_terminal(&console, CONSOLE_VT);
    console_progress(&console, "loading", 0, 1 << 20);
    terminal.ticks += 499000;
    console_progress(&console, "loading", 1 << 19, 1 << 20);
    OK(wrote(""), "there is no progress line in the first half second");
    terminal.ticks += 1000;
    console_progress(&console, "loading", 1 << 19, 1 << 20);
    OK(wrote("\33[2m[    0.500] loading: 50 %, 512.0 KiB of 1.00 MiB, 1.0 MB/s, 1 s left\33[0m"),
       "one progress line appears after half a second");
    terminal.ticks += 99000;
    console_progress(&console, "loading", 600 << 10, 1 << 20);
    OK(wrote(""), "a progress line comes no sooner than 100 ms after the one before");
    terminal.ticks += 1000;
    console_progress(&console, "loading", 1000000, 1 << 20);
    OK(wrote(GONE
             "\33[2m[    0.600] loading: 95 %, 976.6 KiB of 1.00 MiB, 1.7 MB/s, 0 s left\33[0m"),
       "the new line takes the place of the old one");
    console_progress(&console, "loading", 1 << 20, 1 << 20);
    console_progress_end(&console);
    OK(wrote(GONE), "nothing of the progress line is left at its end");
    console_progress_end(&console);
    OK(wrote(""), "a second end prints nothing");
    console_progress(&console, "loading", 0, 0);
    terminal.ticks += 600000;
    console_progress(&console, "loading", 0, 0);
    OK(wrote("\33[2m[    1.200] loading: 100 %, 0 B of 0 B, 0.0 MB/s\33[0m"),
       "nothing to load is not a division by zero");
    console_log(&console, "interrupted");
    OK(wrote(GONE "\33[2m[    1.200] interrupted\33[0m\r\n"),
       "a log line takes the place of the progress line");
    terminal.ticks += 100000;
    console_progress(&console, "x", 5, 1000);
    OK(wrote("\33[2m[    1.300] x: 0 %, 5 B of 1000 B, 0.0 MB/s, 139 s left\33[0m"),
       "the progress continues below the log line");
    console_write(&console, "text", 4);
    OK(wrote(GONE "text"), "text replaces the progress line");
    terminal.ticks += 100000;
    console_progress(&console, "x", 5, 9);
    OK(wrote("\r\n\33[2m[    1.400] x: 55 %, 5 B of 9 B, 0.0 MB/s, 1 s left\33[0m"),
       "a log line keeps the text's line");
    console_progress_end(&console);
    OK(wrote(GONE), "the progress ends");
    console_progress_share(&console, "prompt", 1, 4);
    terminal.ticks += 600000;
    console_progress_share(&console, "prompt", 2, 4);
    OK(wrote("\33[2m[    2.000] prompt: 50 %, 1 s left\33[0m"),
       "progress without sizes is only a share");
    console_progress_end(&console);
}

static void show_nothing(void *context, char c)
{
    (void)context;
    (void)c;
}

static void refresh_nothing(void *context, bool now)
{
    (void)context;
    (void)now;
}

/* A display beside a terminal that has not told its width, or is wider. */
static void test_display_progress(uint32_t terminal_columns)
{
    plug_in("", 0, 0, true);
    terminal.closes = false;
    console_platform.screen =
        (struct platform_screen){ .show = show_nothing, .refresh = refresh_nothing, .columns = 24 };
    console_find_terminal(&console, CONSOLE_VT);
    console_set_columns(&console, terminal_columns);
    console_progress_share(&console, "computing", 1, 9);
    terminal.ticks += 600000;
    OK(!console_aborted(&console), "nobody stops the work");
    console_progress_share(&console, "computing", 1, 9);
    OK(wrote("\33[2m[    0.600] computing: \33[0m"),
       "a progress line is cut to the width of the display (terminal: %u)",
       (unsigned)terminal_columns);
    console_progress_end(&console);
    OK(wrote(GONE), "nothing of it is left on the display");
    console_platform.screen = (struct platform_screen){ .columns = 0 };
}

/* As wide as the terminal, whose window may change meanwhile. */
static void test_narrow_progress(void)
{
    plug_in("\33[1;10R", 7, 0, true);
    console_find_terminal(&console, CONSOLE_VT);
    console_set_columns(&console, 30);
    console_progress_share(&console, "loading", 1, 9);
    terminal.ticks += 600000;
    console_progress_share(&console, "lo\346\227\245\346\227\245\346\227\245\346\227\245g", 1, 9);
    OK(wrote("\33[2m[    0.600] lo\346\227\245\346\227\245\346\227\245\346\227\245g: 11 %\33[0m"),
       "a progress line is cut to the width of the terminal");
    terminal.arrived = 7;
    OK(!console_aborted(&console), "a terminal tells that its window is narrower");
    console_progress_end(&console);
    OK(wrote("\33[2A" GONE), "nothing is left of the rows that the narrower window had");
}

/* Lines are not redrawn: one comes after a second, then after five and after an eighth. */
static void test_plain_progress(void)
{
    unsigned lines = 0;

    plug_in("", 0, 0, true);
    for (unsigned ms = 0; ms <= 1000; ms += 100, terminal.ticks += 100000) {
        console_progress(&console, "loading", 10 + ms, 100000);
    }
    OK(wrote("[    1.000] loading: 1 %, 1010 B of 97.7 KiB, 0.0 MB/s, 98 s left\r\n"),
       "a progress line comes after a second without a terminal");
    for (unsigned ms = 1100; ms <= 98000; ms += 100, terminal.ticks += 100000) {
        console_progress(&console, "loading", 10 + ms, 100000);
    }
    for (size_t i = 0; i < terminal.out_bytes; i++) {
        lines += terminal.out[i] == '\n';
    }
    OK(lines == 14 && memchr(terminal.out, 27, terminal.out_bytes) == NULL,
       "%u more lines come in 97 seconds, without a control sequence", lines);
    wrote("");
    console_progress_end(&console);
    OK(wrote("[   98.100] loading: 98 %, 95.7 KiB of 97.7 KiB, 0.0 MB/s, 2 s left\r\n"),
       "the progress line has its end");
    console_progress(&console, "short", 0, 2);
    terminal.ticks += 900000;
    console_progress(&console, "short", 1, 2);
    console_progress_end(&console);
    OK(wrote(""), "a wait that is over within the second prints nothing");
}

/* ---- a terminal or none ---- */

#define QUESTION \
    "\33" \
    "7\33[999C\33[6n\33" \
    "8"

/* Asks, and looks at the answer when a line is logged. */
static bool finds(const char *in, size_t portion)
{
    plug_in(in, strlen(in), portion, true);
    terminal.tick_step = 100; /* of a million in a second */
    terminal.closes = false;
    console_find_terminal(&console, CONSOLE_AUTO);
    console_log(&console, "x");
    return console_is_terminal(&console);
}

#define PLAIN_X "[    0.000] x\r\n"
#define DIM_X "\33[2m[    0.000] x\33[0m\r\n"

static void test_terminal(void)
{
    static const char keys[] = "\33[1;40R\33[Aab\33[Dc\x01"
                               "d\x0c\33[200~\re\33[201~\n";

    OK(finds("\33[1;90R", 64) && wrote(QUESTION "\r" DIM_X) && !console_has_input(&console),
       "a terminal answers, and the next line of the log is dim");
    OK(finds("one\n\33[24;132Rtwo\n", 64) && is(next_line(64), "one") && is(next_line(64), "two"),
       "text that was typed around the terminal's answer is input");
    OK(!finds("one\n\33[Ax\33[5;Rtwo\33", 64) && wrote(QUESTION "\r" PLAIN_X),
       "there is no color without an answer");
    OK(is(next_line(64), "one"), "no input is lost");
    OK(!finds("\33[1;", 64) && terminal.ticks < 501000,
       "the console does not wait for an answer that is not whole");
    plug_in("", 0, 0, true);
    console_find_terminal(&console, CONSOLE_AUTO);
    console_log(&console, "error: loud");
    console_style(&console, CONSOLE_REPLY);
    console_printf(&console, "error: %d\n", 1);
    console_style(&console, CONSOLE_NORMAL);
    OK(wrote(QUESTION "\r[    0.000] error: loud\r\nerror: 1\r\n"), "silence gets no color");
    plug_in("a\33[1;40Rb\n", 11, 64, true);
    OK(is(next_line(64), "ab") && console_is_terminal(&console) &&
           wrote("a\33[?2004h\r\33[Jab\r\n"),
       "a line is drawn as on a terminal if the answer comes after the prompt");
    plug_in(keys, sizeof keys - 1, 64, true);
    console_find_terminal(&console, CONSOLE_PLAIN);
    OK(is(next_line(64), "abcd\ne") && !console_is_terminal(&console) &&
           memchr(terminal.out, 27, terminal.out_bytes) == NULL,
       "term=plain stays plain, whatever comes");
    wrote("");
    plug_in("x\n", 2, 64, true);
    console_find_terminal(&console, CONSOLE_VT);
    OK(wrote("") && console_is_terminal(&console), "term=vt is not asked");
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
       "a reply that a log line interrupts continues with its color");
    console_repeat_log(&console);
    OK(wrote("\33[2m[    0.000] fine\r\n[    0.000] warning: hm\r\n[    0.000] x\r\n\33[0m"),
       "no color is kept with the log");
    {
        char line[8];
        size_t bytes;

        (void)console_read_line(&console, "> ", line, sizeof line, &bytes);
    }
    OK(wrote(QUESTION "\33[?2004h\33[1m> \33[0mx\r\n"), "the prompt stands out");
}

/* Rows end between words if the width is known, but not in a pipe, nor for a program. */
static void test_wrapping(void)
{
    static const char text[] = "words that are cut";

    plug_in("", 0, 0, true);
    console_find_terminal(&console, CONSOLE_VT);
    console_write(&console, text, sizeof text - 1);
    OK(wrote("words that are cut"), "text is not wrapped if the terminal's width is not known");
    console_write(&console, "\n", 1);
    console_set_columns(&console, 14);
    console_style(&console, CONSOLE_REPLY);
    terminal.out_bytes = 0;
    console_write(&console, text, sizeof text - 1);
    OK(wrote("words that ar\33[2D\33[K\r\nare cut"), "words begin the next row");
    console_log(&console, "a log");
    OK(wrote("\r\n\33[0m\33[2m[    0.000] a log\33[0m\33[36m\r\n"), "lines of the log stay whole");
    console_whole_lines(&console, true);
    console_write(&console, text, sizeof text - 1);
    console_whole_lines(&console, false);
    OK(wrote(text), "lines of figures stay whole");
    console_write(&console, "\n", 1);
    terminal.out_bytes = 0;
    console_find_terminal(&console, CONSOLE_PLAIN);
    console_write(&console, text, sizeof text - 1);
    OK(wrote("words that are cut"), "nothing is wrapped without a terminal");
    console_speak_json(&console);
    console_write(&console, text, sizeof text - 1);
    console_write(&console, "\n", 1);
    OK(wrote("{\"event\":\"text\",\"text\":\"words that are cut\"}\r\n"),
       "a program gets the lines as one event");
}

int main(void)
{
    console_write(&console, "early", 5);
    OK(console_millis(&console) == 0 && !console_aborted(&console),
       "the console does nothing before console_open()");
    test_output();
    test_progress();
    test_narrow_progress();
    test_display_progress(0);
    test_display_progress(200);
    test_plain_progress();
    test_terminal();
    test_styles();
    test_wrapping();
    return tap_done();
}
