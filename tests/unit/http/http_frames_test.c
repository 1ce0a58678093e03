/* Frames of WebSockets, byte by byte as RFC 6455 writes them: a broken rule ends the connection
 * with that rule's code, fragments make one message, control frames come between them, lengths have
 * three forms. */
#include <string.h>

#include "runtime/http/http_frames.h"
#include "tests/unit/tap.h"

enum { LARGE = 70000, OUT_BYTES = 160 };

static struct http_frames f;
static char out[LARGE + 64], log_[256];

static void begin(void)
{
    http_frames_close(&f);
    (void)http_frames_open(&f);
}

/* A frame with the mask 0. */
static size_t put(uint8_t *to, unsigned first, const void *bytes, size_t n)
{
    to[0] = (uint8_t)first;
    to[1] = (uint8_t)(0x80 | n);
    memset(to + 2, 0, 4);
    memcpy(to + 6, bytes, n);
    return 6 + n;
}

/* Writes all whole messages as "t:text|" or "b:bytes|", and "END 1002" where they ended. */
static const char *hear(const void *bytes, size_t n)
{
    bool last = false, text = false, begun = false, was = false;
    const char *piece;
    size_t at = 0, piece_bytes;
    enum http_frames_event event;

    http_frames_give(&f, bytes, n);
    while ((event = http_frames_next(&f, &piece, &piece_bytes, &last, &text)) == HTTP_FRAMES_DATA) {
        at += (size_t)snprintf(log_ + at, sizeof log_ - at, "%s%.*s%s",
                               begun && text == was ? "" : (text ? "t:" : "b:"), (int)piece_bytes,
                               piece, last ? "|" : "");
        begun = !last;
        was = text;
    }
    log_[at] = '\0';
    if (event == HTTP_FRAMES_END) {
        snprintf(log_ + at, sizeof log_ - at, "END %u", f.code);
    }
    return log_;
}

static const char *hear_frames(const char *frames[], size_t n)
{
    static uint8_t all[1024];
    size_t at = 0;

    begin();
    for (size_t i = 0; i < n; i++) {
        at += put(all + at, (uint8_t)frames[i][0], frames[i] + 1, strlen(frames[i] + 1));
    }
    return hear(all, at);
}

#define HEARS(want, ...) \
    (strcmp(hear_frames((const char *[]){ __VA_ARGS__ }, \
                        sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(const char *)), \
            want) == 0)

/* Section 5.4: a message of several frames, with control frames between them. */
static void test_fragments(void)
{
    OK(HEARS("t:Hello|",
             "\x01"
             "Hel",
             "\x80"
             "lo"),
       "two frames become one text: %s", log_);
    OK(HEARS("t:Hello|b:x|",
             "\x01"
             "Hel",
             "\x89",
             "\x00"
             "l",
             "\x8a",
             "\x80"
             "o",
             "\x82"
             "x"),
       "a ping and a pong may come between frames, and another message after: %s", log_);
    OK(f.pongs, "the ping is answered");
    OK(HEARS("END 1002", "\x80"
                         "lo"),
       "a frame that continues nothing ends the connection: %s", log_);
    OK(HEARS("t:HelEND 1002",
             "\x01"
             "Hel",
             "\x81"
             "lo"),
       "a message that begins within another one ends the connection: %s", log_);
    OK(HEARS("t:a|END 1002",
             "\x81"
             "a",
             "\x80"
             "b"),
       "a frame after the end of a message continues nothing: %s", log_);
}

/* Sections 5.1, 5.2, 5.5. */
static void test_rules(void)
{
    static const struct {
        const char *what, *bytes;
        size_t n;
    } rows[] = {
        { "a frame without a mask", "\x81\x01x", 3 },
        { "a reserved bit", "\xc1\x81\0\0\0\0x", 7 },
        { "a reserved kind of message", "\x83\x81\0\0\0\0x", 7 },
        { "a reserved kind of control frame", "\x8b\x80\0\0\0\0", 6 },
        { "a ping in pieces", "\x09\x80\0\0\0\0", 6 },
        { "a ping of 126 bytes", "\x89\xfe\0\x7e\0\0\0\0", 8 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        OK(strcmp(hear(rows[i].bytes, rows[i].n), "END 1002") == 0, "%s ends the connection: %s",
           rows[i].what, log_);
    }
    begin();
    OK(strcmp(hear("\x81\xff\x80\0\0\0\0\0\0\0\0\0\0\0", 14), "END 1002") == 0,
       "a length of 2^63 ends the connection: %s", log_);
    begin();
    OK(strcmp(hear("\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0x", 15), "END 1009") == 0,
       "a length just below 2^63 ends the connection: %s", log_);
    begin();
    OK(strcmp(hear("\x81\xff\0\0\0\0\1\0\0\1\0\0\0\0x", 15), "END 1009") == 0,
       "a byte more than a frame may have ends the connection: %s", log_);
}

/* Section 7.4: a code that ends the connection is sent back; a code that must not be sent breaks a
 * rule. */
static void test_ends(void)
{
    static const unsigned good[] = { 1000, 1001, 1003, 1007, 1014, 3000, 4999 };
    static const unsigned bad[] = { 0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65535 };
    uint8_t frame[16];
    char text[16], want[16];
    bool all = true;

    for (size_t i = 0; i < sizeof good / sizeof good[0] + sizeof bad / sizeof bad[0]; i++) {
        bool is_good = i < sizeof good / sizeof good[0];
        unsigned code = is_good ? good[i] : bad[i - sizeof good / sizeof good[0]];

        text[0] = (char)(code >> 8);
        text[1] = (char)code;
        begin();
        snprintf(want, sizeof want, "END %u", is_good ? code : 1002);
        if (strcmp(hear(frame, put(frame, 0x88, text, 2)), want) != 0) {
            printf("# %u: %s\n", code, log_);
            all = false;
        }
    }
    OK(all, "an end has one of the codes that it may have");
    begin();
    OK(strcmp(hear(frame, put(frame, 0x88, "", 0)), "END 1000") == 0,
       "an end without a code is answered: %s", log_);
    begin();
    OK(strcmp(hear(frame, put(frame, 0x88, "\x03", 1)), "END 1002") == 0,
       "an end with half of a code is an error: %s", log_);
    begin();
    OK(strcmp(hear(frame, put(frame, 0x88, "\x03\xe8go", 4)), "END 1000") == 0,
       "an end with a reason is answered: %s", log_);
    begin();
    OK(strcmp(hear(frame, put(frame, 0x88, "\x03\xe8\xc3", 3)), "END 1007") == 0,
       "an end with a reason that is not UTF-8 is an error: %s", log_);
    begin();
    http_frames_end(&f, HTTP_CLOSE_TOO_LONG);
    http_frames_end(&f, HTTP_CLOSE_PROTOCOL);
    OK(f.code == HTTP_CLOSE_TOO_LONG, "the first of two reasons counts");
}

/* Section 5.2: lengths of 7, 16 and 64 bits. */
static void test_lengths(void)
{
    static char message[LARGE];
    static const struct {
        size_t n;
        const char *head;
        size_t head_bytes;
    } rows[] = { { 125, "\x81\x7d", 2 },
                 { 126, "\x81\x7e\0\x7e", 4 },
                 { 65535, "\x81\x7e\xff\xff", 4 },
                 { 65536, "\x81\x7f\0\0\0\0\0\1\0\0", 10 } };

    memset(message, 'm', sizeof message);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t at = 0, turns = 0;
        bool sent = false;

        begin();
        while (!sent && turns++ < 1000) {
            at += http_frames_fill(&f, message, rows[i].n, out + at, OUT_BYTES, &sent);
        }
        OK(sent && at == rows[i].head_bytes + rows[i].n &&
               memcmp(out, rows[i].head, rows[i].head_bytes) == 0 && out[at - 1] == 'm',
           "a message of %zu bytes goes out with its head", rows[i].n);
    }
}

/* Control frames wait for the end of a message that is being sent. */
static void test_between(void)
{
    static char message[300];
    uint8_t frame[16];
    bool sent;

    memset(message, 'm', sizeof message);
    begin();
    OK(http_frames_fill(&f, message, 300, out, OUT_BYTES, &sent) == OUT_BYTES && !sent,
       "the first half of a message fills the room");
    (void)hear(frame, put(frame, 0x89, "p", 1));
    OK(http_frames_fill(&f, NULL, 0, out, OUT_BYTES, &sent) == 0 && !sent,
       "no frame comes between the halves of a message");
    OK(http_frames_fill(&f, message, 300, out, OUT_BYTES, &sent) == 144 && sent && out[0] == 'm',
       "the rest of the message comes next");
    OK(http_frames_fill(&f, message, 300, out, OUT_BYTES, &sent) == 3 && !sent &&
           memcmp(out, "\x8a\x01p", 3) == 0,
       "the answer to a ping comes after the message");
    f.pings = true;
    OK(http_frames_fill(&f, NULL, 0, out, OUT_BYTES, &sent) == 2 && memcmp(out, "\x89\0", 2) == 0 &&
           http_frames_fill(&f, NULL, 0, out, OUT_BYTES, &sent) == 0,
       "one ping is sent, and no second");
    f.pings = true;
    http_frames_end(&f, HTTP_CLOSE_NORMAL);
    OK(http_frames_fill(&f, message, 1, out, OUT_BYTES, &sent) == 3 && sent &&
           memcmp(out, "\x81\x01m", 3) == 0,
       "a message that waits goes out before the end");
    OK(http_frames_fill(&f, NULL, 0, out, OUT_BYTES, &sent) == 4 &&
           memcmp(out, "\x88\x02\x03\xe8", 4) == 0 && f.end_sent &&
           http_frames_fill(&f, message, 300, out, OUT_BYTES, &sent) == 0 && !sent,
       "no frame comes after the end");
}

int main(void)
{
    test_fragments();
    test_rules();
    test_ends();
    test_lengths();
    test_between();
    http_frames_close(&f);
    return tap_done();
}
