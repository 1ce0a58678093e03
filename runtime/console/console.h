/* The console: output, log lines, a progress line, and lines of input with editing. One per
 * machine, used by core 0 only. Device access is passed in, so that tests can play the terminal. */
#ifndef INGOT_RUNTIME_CONSOLE_H
#define INGOT_RUNTIME_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"

enum {
    CONSOLE_PRINT_BYTES = 1024, /* longest text of one console_printf or console_log */
    CONSOLE_LOG_BYTES = 8192,   /* log lines kept for console_repeat_log(), a power of two */
    CONSOLE_RING_BYTES = 8192,  /* input kept while nobody reads, a power of two */
    CONSOLE_ANSWER_MS = 150,    /* a terminal's, at 115200 baud and behind a USB adapter */
    CONSOLE_NO_BYTE = -1,       /* from getc: nothing has arrived */
    CONSOLE_CLOSED = -2,        /* from getc: nothing will arrive any more */
};

struct console_port {
    void (*putc)(char c); /* blocks while the transmitter is full */
    int (*getc)(void);    /* 0 .. 255, CONSOLE_NO_BYTE or CONSOLE_CLOSED */
    uint64_t (*ticks)(void);
    uint64_t (*ticks_hz)(void);
    void (*idle)(void);        /* sleep a little while waiting for input; NULL: none better */
    uint64_t start_ticks;      /* log lines count from here */
    bool serial;               /* send CR before LF */
    bool echo;                 /* the far end does not echo by itself */
    bool (*interrupted)(void); /* Ctrl-C that getc has not given (board.h); or NULL */
    uint32_t (*lost)(void);    /* bytes lost on the way in since the last call; or NULL */
};

/* What is at the far end. Only a terminal gets control sequences: colours, and lines drawn anew. */
enum console_terminal {
    CONSOLE_AUTO,  /* asked for; no terminal until it answers, or sends a key that only one has */
    CONSOLE_PLAIN, /* none */
    CONSOLE_VT,    /* one that obeys ECMA-48 */
};

enum console_style { CONSOLE_NORMAL, CONSOLE_DIM, CONSOLE_STRONG, CONSOLE_REPLY, CONSOLE_ERROR };

/* Start with an empty ring and no terminal. The port is copied. */
void console_init(const struct console_port *port);

/* CONSOLE_AUTO asks how wide the terminal is, and waits for the answer, CONSOLE_ANSWER_MS at most.
 * What else arrives meanwhile is input. On a line of its own. */
void console_find_terminal(enum console_terminal kind);

bool console_is_terminal(void);

/* How the text from here on looks on a terminal. Log lines, and texts of console_printf that begin
 * with "error:" or "warning:", have their own look and come back to this one. */
void console_style(enum console_style style);

/* From now on every line is an event in JSON (runtime/console/console_json.h), until
 * console_init(). */
void console_speak_json(void);

/* text (bytes), LF as CR LF on a serial line. */
void console_write(const char *text, size_t bytes);

/* The write of a struct utf8_writer; context unused. */
void console_write_to(void *context, const char *text, size_t bytes);

/* format_text() to the console; what is beyond CONSOLE_PRINT_BYTES is cut. */
__attribute__((format(printf, 1, 2))) void console_printf(const char *format, ...);

/* One log line: "[    0.123] " (seconds since start_ticks), the text, a newline. Starts on a
 * line of its own. */
__attribute__((format(printf, 1, 2))) void console_log(const char *format, ...);

/* Write the last CONSOLE_LOG_BYTES of log lines again, whole ones. */
void console_repeat_log(void);

/* Thousandths of a second since start_ticks. */
uint64_t console_millis(void);

/* Tell that `done` of `total` bytes are there, at which rate and how long the rest takes. On a
 * terminal nothing is drawn in the first half second; then one line is drawn over itself ten times
 * a second at most. Elsewhere a line comes after a second, and more of them ever less often. */
void console_progress(const char *label, uint64_t done, uint64_t total);

/* The same as what loading, saving and their like call (stream_progress_fn); context unused. False
 * once Ctrl-C has arrived. */
bool console_progress_step(void *context, const char *label, uint64_t done, uint64_t total);

/* The same of anything else: no sizes and no rate. label must last to the end of the wait;
 * another one that begins anew is a wait of its own. */
void console_progress_share(const char *label, uint64_t done, uint64_t total);

/* The wait is over, well or not. The line, if one was drawn, gets its newline. */
void console_progress_end(void);

/* Move what has arrived into the ring; never waits. Call it at least every few milliseconds
 * while working. A full ring leaves the rest with the device. */
void console_poll(void);

/* Polls; true once Ctrl-C has arrived since the last console_read_line() began. Such a Ctrl-C is
 * taken out of the input; what was typed around it stays. */
bool console_aborted(void);

/* True when a byte waits in the ring. */
bool console_has_input(void);

/* Write the prompt (ASCII, on a line of its own) and read one line into line (max bytes, max >= 1),
 * NUL-terminated, *bytes without the NUL, valid UTF-8, edited as line_editor.h says. CR, LF and CR
 * LF end a line; a bracketed paste may contain LF.
 * Errors: ERR_TOO_LONG (consumed to its end, *bytes 0), ERR_ABORTED (Ctrl-C), ERR_NO_DEVICE (end
 * of input: Ctrl-D on an empty line, or the port is closed).
 *
 * prompt NULL: a program is at the other end. No prompt, no echo, no editing, the bytes as they
 * came; empty lines are passed over. */
enum err console_read_line(const char *prompt, char *line, size_t max, size_t *bytes);

#endif
