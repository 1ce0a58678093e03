/* Frames of a program's line: the check of a known text, lines with noise in them, and events that
 * are sent again. */
#include "runtime/console/console_frames.h"

#include <string.h>

#include "tests/unit/tap.h"

static struct console_frames f;

static void event(const char *text)
{
    char end[CONSOLE_FRAME_END];

    console_frames_begin(&f);
    console_frames_take(&f, text, strlen(text));
    (void)console_frames_end(&f, end);
}

static bool is_good(const char *line, size_t expected)
{
    size_t bytes = strlen(line);

    return console_frames_check(&f, line, &bytes) && bytes == expected;
}

static void test_check(void)
{
    size_t n = 9;
    bool all = true;

    memset(&f, 0, sizeof f);
    OK(is_good("anything", 8) && is_good("", 0), "any line is right without frames");
    console_frames_set(&f, true);
    OK(console_frames_crc(0, "123456789", n) == 0xf4, "the CRC-8 gives its check value");
    OK(is_good("123456789*f4", 9) && is_good("123456789*F4", 9), "a line with its check is good");
    OK(!is_good("123456789*f5", 9) && !is_good("123456789", 9) && !is_good("*f", 0) &&
           !is_good("123456789*fg", 9) && !is_good("", 0),
       "a line without its check is not good");
    for (unsigned i = 0; i < 9; i++) {
        for (unsigned a = 1; a < 256;
             a++) { /* one character in any way, and two neighbours by a bit each */
            char line[] = "123456789*f4";

            line[i] ^= (char)a;
            all = all && !is_good(line, 9);
            line[i] ^= (char)a;
            line[i] ^= (char)(1 << a % 8);
            line[i + 1] ^= (char)(1 << a / 8 % 8);
            all = all && !is_good(line, 9);
        }
    }
    OK(all, "a changed character is seen, and so are two changed bits");
}

static bool found(uint32_t first, const char *expected)
{
    struct console_frames_past past;
    size_t n = strlen(expected);

    return console_frames_find(&f, first, &past) && past.bytes[0] + past.bytes[1] == n &&
           memcmp(past.text[0], expected, past.bytes[0]) == 0 &&
           memcmp(past.text[1], expected + past.bytes[0], past.bytes[1]) == 0;
}

static void test_past(void)
{
    struct console_frames_past past;
    char text[1001];
    uint32_t first = 0;

    console_frames_set(&f, true);
    OK(!console_frames_find(&f, 1, &past) && !console_frames_find(&f, 0, &past),
       "no event is found before the first one");
    event("{1}");
    event("{2}");
    event("{3}");
    OK(f.latest == 3 && found(3, "{3}*39\n"), "the latest event is found");
    OK(found(1, "{1}*13\n{2}*2c\n{3}*39\n"), "all events are found");
    OK(!console_frames_find(&f, 4, &past) && !console_frames_find(&f, 0, &past),
       "no event that was not kept is found");

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (unsigned i = 0; i < 30; i++) {
        event(text);
    }
    while (first <= f.latest && !console_frames_find(&f, first, &past)) {
        first++;
    }
    OK(first == f.latest - 7 && past.bytes[0] + past.bytes[1] == 8 * 1004,
       "only whole events are repeated, from %u on", (unsigned)first);
    OK(console_frames_find(&f, f.latest, &past) && past.bytes[0] + past.bytes[1] == 1004,
       "an event across the end of the memory is found");
    console_frames_set(&f, false);
    event("{}");
    OK(!console_frames_find(&f, 1, &past), "no event is kept without frames");
}

/* As after /lock: earlier events are not sent again, later ones are. */
static void test_forget(void)
{
    struct console_frames_past past;
    bool kept = false;

    console_frames_set(&f, true);
    event("{secret}");
    event("{2}");
    console_frames_forget(&f);
    OK(!console_frames_find(&f, 1, &past) && !console_frames_find(&f, 2, &past) &&
           !console_frames_find(&f, 0, &past) && !console_frames_find(&f, 3, &past),
       "events that are forgotten are not sent again");
    for (size_t i = 0; i + 6 <= sizeof f.kept; i++) {
        kept = kept || memcmp(f.kept + i, "secret", 6) == 0;
    }
    OK(!kept, "no byte of forgotten events is left");
    event("{3}");
    OK(f.latest == 3 && found(3, "{3}*39\n") && !console_frames_find(&f, 2, &past),
       "later events are kept, under the next number");
}

int main(void)
{
    test_check();
    test_past();
    test_forget();
    return tap_done();
}
