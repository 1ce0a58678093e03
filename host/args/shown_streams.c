#include "host/args/shown_streams.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "board/host/host_terminal.h"
#include "runtime/text/shown_text.h"
#include "runtime/text/word_wrap.h"

enum { OUT_BYTES = 4096 };

struct stream {
    int fd;
    struct shown_text text;
    struct word_wrap wrap;
    bool wraps;
    bool is_line; /* one call of fprintf writes one line */
    char out[OUT_BYTES];
    size_t n;
    bool failed; /* with errno */
};

static struct stream streams[] = { { .fd = STDOUT_FILENO },
                                   { .fd = STDERR_FILENO, .is_line = true } };

static void send(struct stream *s)
{
    for (size_t at = 0; at < s->n && !s->failed;) {
        ssize_t n = write(s->fd, s->out + at, s->n - at);

        if (n >= 0) {
            at += (size_t)n;
        } else {
            s->failed = errno != EINTR;
        }
    }
    s->n = 0;
}

static void keep(void *stream, const char *text, size_t bytes)
{
    struct stream *s = stream;

    if (s->n + bytes > OUT_BYTES) {
        send(s);
    }
    memcpy(s->out + s->n, text, bytes);
    s->n += bytes;
}

static void put_shown(void *stream, const char *text, size_t bytes)
{
    struct stream *s = stream;

    word_wrap_put(&s->wrap, text, bytes);
}

/* Returns the columns at which text is wrapped; 0: it is not wrapped. The window may change its
 * width at any time. */
static uint32_t columns_of(const struct stream *s)
{
    return s->wraps ? host_terminal_columns() : 0;
}

/* Writes a line. A character that breaks the line, except at its end, is from a name, not from a
 * format. `bytes` has no NUL at its end. */
static void put_line(struct stream *s, const char *bytes, size_t n)
{
    size_t from = 0;

    for (size_t i = 0; i + 1 < n; i++) {
        char three[4] = { bytes[i], bytes[i + 1], i + 2 < n ? bytes[i + 2] : '\0' };
        size_t broken = shown_breaks_name(three);

        if (broken != 0) {
            shown_text_put(&s->text, bytes + from, i - from);
            shown_text_put(&s->text, UTF8_REPLACEMENT, sizeof UTF8_REPLACEMENT - 1);
            i += broken - 1;
            from = i + 1;
        }
    }
    shown_text_put(&s->text, bytes + from, n - from);
}

/* Writes the text of one call of fprintf if the stream has no buffer (standard error), otherwise a
 * full buffer or a line. */
static ssize_t write_shown(void *stream, const char *bytes, size_t n)
{
    struct stream *s = stream;
    bool redraws = s->fd == STDERR_FILENO && n > 0 && bytes[0] == '\r';

    s->failed = false;
    s->wrap.columns = columns_of(s);
    if (redraws) {
        keep(s, "\r", 1);
    }
    if (s->is_line) {
        put_line(s, bytes + redraws, n - redraws);
    } else {
        shown_text_put(&s->text, bytes + redraws, n - redraws);
    }
    send(s);
    return s->failed ? 0 : (ssize_t)n;
}

static FILE *open_stream(struct stream *s, FILE *before, int buffering)
{
    FILE *file = fopencookie(s, "w", (cookie_io_functions_t){ .write = write_shown });

    s->text.write = put_shown;
    s->text.context = s;
    s->wrap.write = keep;
    s->wrap.context = s;
    if (file == NULL) {
        return before;
    }
    (void)setvbuf(file, NULL, buffering, BUFSIZ);
    return file;
}

void shown_streams_open(void)
{
    stdout = open_stream(&streams[0], stdout, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
    stderr = open_stream(&streams[1], stderr, _IONBF);
}

void shown_streams_lines(bool on)
{
    streams[1].is_line = !on;
}

const char *name_shown(const char *name)
{
    enum { COPIES = 8, BYTES = 4096 };
    static _Thread_local char copies[COPIES][BYTES];
    static _Thread_local unsigned next;

    return shown_name(copies[next++ % COPIES], BYTES, name);
}

void shown_streams_wrap(void)
{
    streams[0].wraps = host_terminal_obeys();
}

void shown_streams_begin_row(void)
{
    word_wrap_begin_row(&streams[0].wrap);
}
