/* The console with a program at the other end: it writes events, and reads lines as they come. */
#include <stdlib.h>
#include <string.h>

#include "runtime/console/console_json.h"
#include "runtime/text/utf8.h"
#include "tests/unit/console/console_rig.h"
#include "tests/unit/tap.h"

enum { OUT_BYTES = 4096 };

static struct {
    const char *in;
    size_t in_bytes, at;
    bool pauses;
    uint64_t ticks; /* microseconds */
    char out[OUT_BYTES];
    size_t out_bytes;
} far_end;

static void fake_putc(void *context, char c)
{
    (void)context;
    if (far_end.out_bytes == OUT_BYTES) {
        abort();
    }
    far_end.out[far_end.out_bytes++] = c;
}

/* Byte by byte, as they come over a line. */
static int fake_getc(void *context)
{
    (void)context;
    far_end.pauses = !far_end.pauses;
    if (far_end.pauses) {
        return CONSOLE_NO_BYTE;
    }
    return far_end.at < far_end.in_bytes ? (unsigned char)far_end.in[far_end.at++] : CONSOLE_CLOSED;
}

static uint64_t fake_ticks(void *context)
{
    (void)context;
    return far_end.ticks;
}

static void plug_in(const char *in, size_t bytes, bool serial)
{
    struct console_rig rig = { .putc = fake_putc,
                               .getc = fake_getc,
                               .ticks = fake_ticks,
                               .hz = 1000000,
                               .serial = serial,
                               .echo = true };

    memset(&far_end, 0, sizeof far_end);
    far_end.in = in;
    far_end.in_bytes = bytes;
    console_rig_open(&rig);
}

static bool wrote(const char *expected)
{
    bool same = far_end.out_bytes == strlen(expected) &&
                memcmp(far_end.out, expected, far_end.out_bytes) == 0;

    if (!same) {
        printf("# wrote %.*s\n", (int)far_end.out_bytes, far_end.out);
    }
    far_end.out_bytes = 0;
    return same;
}

/* Every event between two calls has the id; a token's own number has another name. */
static void test_request_id(void)
{
    plug_in("", 0, false);
    console_speak_json(&console);
    console_request_id(&console, "a\"\n", true);
    console_log(&console, "x");
    console_printf(&console, "error: y\n");
    OK(wrote("{\"event\":\"log\",\"id\":\"a\\\"\\n\",\"ms\":0,\"text\":\"x\"}\n"
             "{\"event\":\"error\",\"id\":\"a\\\"\\n\",\"name\":\"failed\",\"text\":\"y\"}\n"),
       "a text is escaped");
    console_request_id(&console, "-12", false);
    console_token_begin(&console, 7);
    console_token_end(&console);
    console_token_begin(&console, UINT32_MAX);
    console_token_end(&console);
    OK(wrote("{\"event\":\"token\",\"id\":-12,\"token\":7,\"text\":\"\"}\n"
             "{\"event\":\"token\",\"id\":-12,\"token\":null,\"text\":\"\"}\n"),
       "a negative number and the number of a token are written");
    console_request_id(&console, NULL, false);
    console_token_begin(&console, 7);
    console_token_end(&console);
    OK(wrote("{\"event\":\"token\",\"id\":7,\"text\":\"\"}\n"), "a token without text is written");
}

static void test_json_output(void)
{
    plug_in("", 0, true);
    console_speak_json(&console);
    console_log(&console, "fine \"%s\"", "x");
    OK(wrote("{\"event\":\"log\",\"ms\":0,\"text\":\"fine \\\"x\\\"\"}\r\n"),
       "a log line is an event");
    console_printf(&console, "one\ntw");
    console_printf(&console, "o\n\n");
    OK(wrote("{\"event\":\"text\",\"text\":\"one\"}\r\n"
             "{\"event\":\"text\",\"text\":\"two\"}\r\n"),
       "texts come by the line, and empty ones are left out");
    console_printf(&console, "\nerror: no\n");
    console_log(&console, "error: so");
    OK(wrote("{\"event\":\"error\",\"name\":\"failed\",\"text\":\"no\"}\r\n"
             "{\"event\":\"error\",\"name\":\"failed\",\"text\":\"so\"}\r\n"),
       "errors have names");
    console_printf(&console, "half");
    console_log(&console, "x");
    OK(wrote("{\"event\":\"text\",\"text\":\"half\"}\r\n"
             "{\"event\":\"log\",\"ms\":0,\"text\":\"x\"}\r\n"),
       "a line is ended by another event");
    console_printf(&console, "\xc3\xa9\xff\33[1m\xe4\xb8\n");
    OK(wrote("{\"event\":\"text\",\"text\":\"\xc3\xa9" UTF8_REPLACEMENT
             "\\u001b[1m" UTF8_REPLACEMENT "\"}\r\n"),
       "UTF-8 passes, and control characters do not");
    console_style(&console, CONSOLE_ERROR);
    console_repeat_log(&console);
    OK(wrote("{\"event\":\"text\",\"text\":\"[    0.000] fine \\\"x\\\"\"}\r\n"
             "{\"event\":\"text\",\"text\":\"[    0.000] error: so\"}\r\n"
             "{\"event\":\"text\",\"text\":\"[    0.000] x\"}\r\n"),
       "the log is text again, without color");
}

static void test_json_events(void)
{
    plug_in("", 0, false);
    console_token_begin(&console, 7);
    console_write(&console, "as it is", 8);
    console_token_end(&console);
    OK(wrote("as it is"), "a token is its text for people");
    console_speak_json(&console);
    console_token_begin(&console, 7);
    console_write(&console, "a\nb", 3);
    console_token_end(&console);
    console_token_begin(&console, UINT32_MAX);
    console_token_end(&console);
    OK(wrote("{\"event\":\"token\",\"id\":7,\"text\":\"a\\nb\"}\n"
             "{\"event\":\"token\",\"id\":null,\"text\":\"\"}\n"),
       "tokens are events");
    console_event_begin(&console, "'done','reason':'%s','n':%u", "end", 5u);
    console_event_end(&console);
    console_event_end(&console);
    OK(wrote("{\"event\":\"done\",\"reason\":\"end\",\"n\":5}\n"),
       "an event without a text is written");
    console_token_begin(&console, 1);
    console_log(&console, "x");
    console_token_end(&console);
    OK(wrote("{\"event\":\"token\",\"id\":1,\"text\":\"\"}\n"
             "{\"event\":\"log\",\"ms\":0,\"text\":\"x\"}\n"),
       "an event that begins within another one ends that one");
    for (unsigned i = 0; i <= 70; i++) {
        far_end.ticks += 100000;
        console_progress(&console, "card", i, 70);
    }
    console_progress_end(&console);
    OK(wrote("{\"event\":\"progress\",\"percent\":14,\"text\":\"card\"}\n"
             "{\"event\":\"progress\",\"percent\":85,\"text\":\"card\"}\n"
             "{\"event\":\"progress\",\"percent\":100,\"text\":\"card\"}\n"),
       "progress is an event");
}

/* Reads a line as a program sends it: its result, and its contents. */
static bool reads(enum err expected, const char *text)
{
    char line[8];
    size_t bytes;

    return console_read_line(&console, NULL, line, sizeof line, &bytes) == expected &&
           bytes == strlen(text) && memcmp(line, text, bytes + 1) == 0;
}

static void test_json_input(void)
{
    plug_in("one\n\r\n\33[A\x15\xff\r12345678\nhalf\x03two\nlast", 34, true);
    console_speak_json(&console);
    OK(reads(ERR_OK, "one"), "a line is read");
    OK(reads(ERR_OK, "\33[A\x15\xff"), "empty lines are ignored, and bytes stay as they are");
    OK(reads(ERR_TOO_LONG, "1234567"),
       "a line that is too long is read to its end, and its beginning is there");
    OK(reads(ERR_ABORTED, ""), "Ctrl-C drops what there is of a line");
    OK(reads(ERR_OK, "two") && reads(ERR_OK, "last"), "the last line needs no end");
    OK(reads(ERR_NO_DEVICE, ""), "no input comes after the last line");
    OK(wrote(""), "neither a prompt nor an echo is written");
    plug_in("\x04", 1, true);
    OK(reads(ERR_NO_DEVICE, ""), "Ctrl-D in the place of a line ends the input");
}

int main(void)
{
    test_json_output();
    test_request_id();
    test_json_events();
    test_json_input();
    return tap_done();
}
