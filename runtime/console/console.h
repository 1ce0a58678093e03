/* The console: output, log lines, a progress line, and lines of input with editing. The owner of a
 * console holds the struct, but only this code uses its members, on core 0. The console reaches its
 * device through struct platform, so that tests can act as the terminal. */
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
    CONSOLE_LOG_BYTES = 8192,   /* bytes of log lines kept for console_repeat_log(), a power of
                                 * two */
    CONSOLE_RING_BYTES = 8192,  /* bytes of input kept while nobody reads, a power of two */
    CONSOLE_ID_BYTES = 65,      /* bytes of the id of a program's request, with its NUL */
    CONSOLE_NO_BYTE = -1,       /* returned by getc: nothing has arrived */
    CONSOLE_CLOSED = -2,        /* returned by getc: nothing will arrive any more */
};

/* The kind of the far end. Only a terminal gets control sequences: colours, and lines that are
 * redrawn. */
enum console_terminal {
    CONSOLE_AUTO,  /* the console asks. The far end counts as a terminal once it answers or sends a
                    * key that only terminals have */
    CONSOLE_PLAIN, /* not a terminal */
    CONSOLE_VT,    /* a terminal that obeys ECMA-48 */
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
    bool of_line; /* inside text without an event of its own; a newline ends the text */
    bool in_text; /* written text is part of the event's text */
    bool has_id, id_is_text;
    char id[CONSOLE_ID_BYTES]; /* id of the running request, which every event has */
    struct utf8_writer utf8;
    struct console_frames frames; /* off, unless the program asked for checks */
};

/* The progress of a wait, from the first console_progress() to its end. */
struct console_wait {
    bool waiting;
    bool drawn; /* the progress line is the current line */
    bool told;  /* a line about this wait was written, because there is no terminal */
    uint64_t start_ms, drawn_ms;
    uint64_t done, total;
    bool counts_bytes;
    size_t drawn_width;
    const char *label;
};

/* The received bytes and the line that they form (console_input.c). */
struct console_input {
    bool reading; /* console_read_line() handles Ctrl-C itself */
    bool editing; /* a prompt is shown with the typed text */
    bool left;    /* log lines have been written below the prompt */
    bool aborted;
    bool closed;
    uint32_t silence_ms; /* longest silence while a program's line is awaited; 0: no limit */
    bool asked;          /* the far end was asked whether it is a terminal; it may answer at any
                          * time */
    unsigned head, tail; /* numbers of bytes taken out and put in, which differ by at most the
                          * ring's size */
    uint8_t ring[CONSOLE_RING_BYTES];
    struct line_editor editor;
};

struct console {
    const struct platform *platform;
    bool serial;
    bool in_line; /* there is text on the current line */
    enum console_style style;
    struct shown_text shown; /* written text passes through here on its way to the device */
    struct word_wrap wrap;   /* wraps lines between words if the width is known */
    bool whole_lines;        /* lines are written without word wrap */
    struct console_wait wait;
    struct console_json json;
    struct console_input input;
    char log[CONSOLE_LOG_BYTES];
    size_t log_end; /* bytes logged so far */
};

/* Start with an empty ring and no terminal. A zeroed console that was not opened writes and reads
 * nothing. platform outlives c; log times count from the `start` of platform's clock. */
void console_open(struct console *c, const struct platform *platform,
                  const struct console_setup *setup);

/* CONSOLE_AUTO asks for the terminal's width and does not wait. When the answer comes, the far end
 * counts as a terminal. Bytes that arrive before the answer are input. The cursor must be on an
 * empty line. */
void console_find_terminal(struct console *c, enum console_terminal kind);

bool console_is_terminal(const struct console *c);

/* With `on`, keep each line whole from now on, even on a terminal, because programs look for lines
 * such as figures and ids. Otherwise wrap lines. */
void console_whole_lines(struct console *c, bool on);

/* Set the terminal's width, or 0 if it is unknown. A terminal that was asked reports its width,
 * also after a change. */
void console_set_columns(struct console *c, uint32_t columns);

/* Set the style of the following text on a terminal. Log lines, and texts of console_printf that
 * begin with "error:" or "warning:", have their own style; after them the style set here is used
 * again. */
void console_style(struct console *c, enum console_style style);

/* From now on every line is an event in JSON (runtime/console/console_json.h), until
 * console_speak_text(). */
void console_speak_json(struct console *c);
void console_speak_text(struct console *c);

/* Write text (bytes); on a serial line LF becomes CR LF. The text may come from anybody: control
 * characters become U+FFFD (runtime/text/shown_text.h), also in printed and logged text; in JSON
 * they become escapes. On a terminal of known width, rows break between words, except in log lines
 * and figures. */
void console_write(struct console *c, const char *text, size_t bytes);

/* The write function of a struct utf8_writer, whose context is the console. */
void console_write_to(void *context, const char *text, size_t bytes);

/* format_text() to the console; text that begins with "error:" or "warning:" goes where log
 * lines go. Text beyond CONSOLE_PRINT_BYTES is cut, but a format that ends with a line feed ends the
 * line. */
__attribute__((format(printf, 2, 3))) void console_printf(struct console *c, const char *format,
                                                          ...);

/* Write one log line: "[    0.123] " (seconds since the clock's `start`), the text, a newline. The
 * log line starts on a new line. */
__attribute__((format(printf, 2, 3))) void console_log(struct console *c, const char *format, ...);

/* Call after log lines interrupted a line that is being typed: writes the prompt and the line
 * again below them. */
void console_resume_line(struct console *c);

/* on: the following text is not part of replies and goes where log lines go, if the platform
 * separates them. Off: text goes where replies go. */
void console_to_log(struct console *c, bool on);

/* Prepare for another person: forget the typed lines and the kept events, and erase the terminal
 * (with its scrollback) and the display. Call between two lines. */
void console_forget(struct console *c);

/* Write the last CONSOLE_LOG_BYTES of log lines again, beginning with a whole line. */
void console_repeat_log(struct console *c);

/* Return the milliseconds since the clock's `start`. */
uint64_t console_millis(const struct console *c);

/* Show that `done` of `total` bytes have arrived, with the rate and the time left. A terminal shows
 * nothing in the first half second; then one line, at most as long as the terminal is wide, is
 * redrawn up to ten times a second until the wait ends or something else is written. Without a
 * terminal, a line is written after a second, and more lines at growing intervals. */
void console_progress(struct console *c, const char *label, uint64_t done, uint64_t total);

/* Like console_progress, in the form that loading and saving call (stream_progress_fn); the context
 * is the console. Returns false once Ctrl-C has arrived. */
bool console_progress_step(void *context, const char *label, uint64_t done, uint64_t total);

/* Like console_progress, for work that is not counted in bytes: shows no sizes and no rate. label
 * must exist until the wait ends; another label begins a new wait. */
void console_progress_share(struct console *c, const char *label, uint64_t done, uint64_t total);

/* End the wait, whether it succeeded or not. A drawn line disappears; without a terminal, the last
 * line says that the wait has ended. */
void console_progress_end(struct console *c);

/* Move arrived bytes into the ring; never waits. Call this at least every few milliseconds while
 * working. If the ring is full, further bytes stay in the device. */
void console_poll(struct console *c);

/* Poll; return true if Ctrl-C has arrived since the last console_read_line() began. This Ctrl-C is
 * taken out of the input; what was typed before and after it stays. */
bool console_aborted(struct console *c);

/* Return true if a request in the ring (console_has_input() fills the ring) cancels the request
 * with this id, which begins now. Once a request is running, its cancellation counts as Ctrl-C as
 * soon as it arrives. */
bool console_is_cancelled(const struct console *c, const char *id, bool is_text);

/* Return true if the port is closed, so that nothing more will come. */
bool console_is_closed(const struct console *c);

/* Poll; return true if a byte waits in the ring. */
bool console_has_input(struct console *c);

/* A program counts as gone if it sends no byte for this long while its line is awaited; 0: no
 * limit. A platform that can only sleep until a byte comes cannot apply the limit. */
void console_set_silence(struct console *c, uint32_t ms);

/* Write the prompt (ASCII, on a new line) and read one line into line (max bytes, max >= 1), edited
 * as line_editor.h says: valid UTF-8, *bytes long, and a NUL. CR, LF and CR LF end a line; a
 * bracketed paste may contain LF. Errors: ERR_TOO_LONG (the line is consumed to its end; *bytes is
 * 0 or, for a program's line, the length of its beginning, which is in `line`), ERR_ABORTED
 * (Ctrl-C), ERR_NO_DEVICE (end of input: Ctrl-D on an empty line, or the port is closed).
 *
 * prompt is NULL if a program is at the other end. For a program there is no prompt, echo or
 * editing, bytes stay as they came, and empty lines are ignored. ERR_TIMEOUT: no byte came for the
 * time set by console_set_silence(). */
enum err console_read_line(struct console *c, const char *prompt, char *line, size_t max,
                           size_t *bytes);

#endif
