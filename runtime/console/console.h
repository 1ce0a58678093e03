/* The console: output, log lines, a progress line, and lines of input with editing. Its owner holds the
 * struct, whose members are the console's own; core 0 only. The device is a platform's, so that tests
 * can play the terminal. */
#ifndef INGOT_RUNTIME_CONSOLE_H
#define INGOT_RUNTIME_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/base/platform.h"
#include "runtime/console/console_frames.h"
#include "runtime/console/line_editor.h"
#include "runtime/text/shown_text.h"
#include "runtime/text/utf8.h"
#include "runtime/text/word_wrap.h"

enum {
    CONSOLE_PRINT_BYTES = 1024, /* longest text of one console_printf or console_log */
    CONSOLE_LOG_BYTES = 8192,   /* log lines kept for console_repeat_log(), a power of two */
    CONSOLE_RING_BYTES = 8192,  /* input kept while nobody reads, a power of two */
    CONSOLE_ID_BYTES = 65,      /* of the id of a program's request, with its NUL */
    CONSOLE_NO_BYTE = -1,       /* from getc: nothing has arrived */
    CONSOLE_CLOSED = -2,        /* from getc: nothing will arrive any more */
};

/* The kind of the far end. Only a terminal gets control sequences: colours, and lines drawn anew. */
enum console_terminal {
    CONSOLE_AUTO,  /* asked for; no terminal until it answers, or sends a key that only one has */
    CONSOLE_PLAIN, /* none */
    CONSOLE_VT,    /* one that obeys ECMA-48 */
};

enum console_style { CONSOLE_NORMAL, CONSOLE_DIM, CONSOLE_STRONG, CONSOLE_REPLY, CONSOLE_ERROR };

struct console_setup {
    bool serial; /* send CR before LF */
    bool echo;   /* the far end does not echo by itself */
};

/* Events in place of text, while a program is at the far end (runtime/console/console_json.h). */
struct console_json {
    bool on;
    bool open;    /* an event has begun */
    bool of_line; /* with text of nobody's event, which a newline ends */
    bool in_text; /* what is written is part of its text */
    bool has_id, id_is_text;
    char id[CONSOLE_ID_BYTES]; /* of the running request, in every event */
    struct utf8_writer utf8;
    struct console_frames frames; /* off, unless the program asked for them */
};

/* The progress of a wait, between the first console_progress() and its end. */
struct console_wait {
    bool waiting;
    bool drawn; /* the progress line is the current line */
    bool told;  /* where lines stay as they are: one was written of this wait */
    uint64_t start_ms, drawn_ms;
    uint64_t done, total;
    bool counts_bytes;
    size_t drawn_width;
    const char *label;
};

/* The bytes that have arrived, and the line that they make (console_input.c). */
struct console_input {
    bool reading; /* console_read_line() takes Ctrl-C in its turn */
    bool editing; /* and a prompt is shown, with what was typed, ... */
    bool left;    /* ... but for lines of the log below it */
    bool aborted;
    bool closed;
    uint32_t silence_ms; /* of a program, that ends the wait for its line; 0: none does */
    bool asked;          /* whether it is a terminal, which its answer may tell at any time */
    unsigned head, tail; /* counts of bytes taken and put; they differ by at most the size */
    uint8_t ring[CONSOLE_RING_BYTES];
    struct line_editor editor;
};

struct console {
    const struct platform *platform;
    bool serial;
    bool in_line; /* something stands on the current line */
    enum console_style style;
    struct shown_text shown; /* what is written, on its way to the device ... */
    struct word_wrap wrap;   /* ... by way of this */
    bool whole_lines;        /* ... or without it */
    struct console_wait wait;
    struct console_json json;
    struct console_input input;
    char log[CONSOLE_LOG_BYTES];
    size_t log_end; /* bytes logged so far */
};

/* Start with an empty ring and no terminal; before it a zeroed console writes and reads nothing.
 * platform outlives c; its clock's start is where log lines count from. */
void console_open(struct console *c, const struct platform *platform,
                  const struct console_setup *setup);

/* CONSOLE_AUTO asks how wide the terminal is, and waits for nothing: whenever the answer is there, it is
 * a terminal from then on. Other bytes that arrive meanwhile are input. On a line of its own. */
void console_find_terminal(struct console *c, enum console_terminal kind);

bool console_is_terminal(const struct console *c);

/* Whether lines from here on stay whole on a terminal too, since programs look for them: figures, ids. */
void console_whole_lines(struct console *c, bool on);

/* How wide the terminal is; 0: not known. One that is asked tells it by itself, also after a change. */
void console_set_columns(struct console *c, uint32_t columns);

/* How the text from here on looks on a terminal. Log lines, and texts of console_printf that begin
 * with "error:" or "warning:", have their own look and come back to this one. */
void console_style(struct console *c, enum console_style style);

/* From now on every line is an event in JSON (runtime/console/console_json.h), until
 * console_speak_text(). */
void console_speak_json(struct console *c);
void console_speak_text(struct console *c);

/* text (bytes), LF as CR LF on a serial line. Whoever it is from: what a terminal would obey becomes
 * U+FFFD (runtime/text/shown_text.h), in every text that is printed or logged too, and in JSON an
 * escape. On a terminal whose width is known, rows end between words, but those of log lines and of
 * figures. */
void console_write(struct console *c, const char *text, size_t bytes);

/* The write of a struct utf8_writer, whose context is the console. */
void console_write_to(void *context, const char *text, size_t bytes);

/* format_text() to the console, a text that begins with "error:" or "warning:" the way of log
 * lines; what is beyond CONSOLE_PRINT_BYTES is cut. */
__attribute__((format(printf, 2, 3))) void console_printf(struct console *c, const char *format,
                                                          ...);

/* One log line: "[    0.123] " (seconds since start_ticks), the text, a newline. Starts on a
 * line of its own. */
__attribute__((format(printf, 2, 3))) void console_log(struct console *c, const char *format, ...);

/* Log lines came while a line was typed: prompt and line again, below them. */
void console_resume_line(struct console *c);

/* Text from here on is not part of the replies: it goes the way of log lines, where the platform
 * has one for them (on), or that of replies again. */
void console_to_log(struct console *c, bool on);

/* Somebody else takes over: forget the lines that were typed and the events that can be sent again, and erase what a
 * terminal (with its scrollback) and a display show. Between two lines. */
void console_forget(struct console *c);

/* Write the last CONSOLE_LOG_BYTES of log lines again, whole ones. */
void console_repeat_log(struct console *c);

/* Thousandths of a second since start_ticks. */
uint64_t console_millis(const struct console *c);

/* Tell that `done` of `total` bytes are there, at which rate and how long the rest takes. On a
 * terminal nothing is drawn in the first half second; then one line is drawn over itself ten times
 * a second at most, as much of it as the terminal is wide, until the wait ends or something else is
 * written. Elsewhere a line comes after a second, and more of them ever less often. */
void console_progress(struct console *c, const char *label, uint64_t done, uint64_t total);

/* The same as what loading, saving and their like call (stream_progress_fn), with the console as
 * its context. False once Ctrl-C has arrived. */
bool console_progress_step(void *context, const char *label, uint64_t done, uint64_t total);

/* The same for anything else: no sizes and no rate. label must last to the end of the wait;
 * another one that begins anew is a wait of its own. */
void console_progress_share(struct console *c, const char *label, uint64_t done, uint64_t total);

/* The wait is over, well or not. A line that is drawn goes; where lines stay, the last one says so. */
void console_progress_end(struct console *c);

/* Move what has arrived into the ring; never waits. Call it at least every few milliseconds
 * while working. A full ring leaves the rest with the device. */
void console_poll(struct console *c);

/* Polls; true once Ctrl-C has arrived since the last console_read_line() began. Such a Ctrl-C is
 * taken out of the input; what was typed around it stays. */
bool console_aborted(struct console *c);

/* Whether a request that waits in the ring (console_has_input() fills it) cancels the one with this id, which begins now. While one is at
 * work, its cancel is a Ctrl-C as soon as it has come. */
bool console_is_cancelled(const struct console *c, const char *id, bool is_text);

/* Whether the port is closed: nothing more will come. */
bool console_is_closed(const struct console *c);

/* True when a byte waits in the ring. */
bool console_has_input(struct console *c);

/* A program that sends no byte for so long while its line is awaited is gone; 0: never. A platform that can only sleep until
 * a byte comes does not notice. */
void console_set_silence(struct console *c, uint32_t ms);

/* Write the prompt (ASCII, on a line of its own) and read one line into line (max bytes, max >= 1),
 * NUL-terminated, *bytes without the NUL, valid UTF-8, edited as line_editor.h says. CR, LF and CR
 * LF end a line; a bracketed paste may contain LF.
 * Errors: ERR_TOO_LONG (consumed to its end, *bytes 0; of a program's line its beginning), ERR_ABORTED (Ctrl-C), ERR_NO_DEVICE (end
 * of input: Ctrl-D on an empty line, or the port is closed).
 *
 * prompt NULL: a program is at the other end. No prompt, no echo, no editing, the bytes as they
 * came; empty lines are ignored. ERR_TIMEOUT: not a byte came for as long as console_set_silence() says. */
enum err console_read_line(struct console *c, const char *prompt, char *line, size_t max,
                           size_t *bytes);

#endif
