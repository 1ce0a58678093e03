/* Editing of one line on a terminal, and the history of lines: bytes in, text and, where the far
 * end is a terminal, ECMA-48 control sequences out. Knows no device; core 0 only.
 *
 * A far end that is not known to be a terminal gets plain text: what is typed is echoed at the end
 * of the line, and taken back by BS, space, BS. A terminal has the whole line redrawn where the
 * cursor is not at its end, over as many rows as it takes. */
#ifndef INGOT_RUNTIME_LINE_EDITOR_H
#define INGOT_RUNTIME_LINE_EDITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/console/line_history.h"
#include "runtime/text/utf8.h"

enum {
    LINE_DEFAULT_COLUMNS = 80, /* of a terminal that has not said */
    LINE_MIN_COLUMNS = 8,      /* narrower ones are treated as this wide */
    LINE_SEQUENCE_BYTES = 16,  /* of a control sequence; longer ones are ignored whole */
};

enum line_event {
    LINE_MORE,     /* the line goes on */
    LINE_FINISHED, /* Enter */
    LINE_TOO_LONG, /* Enter, after more than fits: the line is its beginning */
    LINE_ABORTED,  /* Ctrl-C */
    LINE_END,      /* Ctrl-D on an empty line */
    LINE_SILENT,   /* nothing came for too long; never of line_editor_take() */
};

struct line_editor {
    /* Set by the owner before line_editor_begin. */
    void (*write)(void *context, const char *text, size_t bytes); /* LF starts a row at column 0 */
    void *context;
    bool echo;        /* the far end does not echo by itself; false: nothing is written */
    bool terminal;    /* obeys control sequences; also set by the first key that only one has ... */
    bool plain;       /* ... unless it is known to be none: then such keys do nothing */
    uint32_t columns; /* of the terminal; 0: LINE_DEFAULT_COLUMNS */
    uint32_t most_columns; /* of a display that shows the same; 0: there is none */

    /* The line. */
    const char *prompt; /* ASCII, at column 0 */
    char *line;
    size_t max; /* bytes of line, with a NUL */
    size_t n;
    size_t cursor; /* byte where the next character goes: the beginning of one, or n */
    bool too_long;
    bool pasting;  /* within a bracketed paste: CR and LF are text */
    bool after_cr; /* the LF of a CR LF is not a line of its own; outlives the line */

    /* The terminal's contents, its first row being the prompt's. */
    uint32_t row;                   /* where its cursor is */
    uint32_t last_row, last_column; /* where the line ends */

    /* Bytes of the input that make one character or one key. */
    struct utf8_writer utf8;
    char sequence[LINE_SEQUENCE_BYTES];
    uint8_t n_sequence; /* 0: none has begun */

    struct line_history history;
};

/* Set write, context, echo, terminal, plain and columns of a zeroed struct; then for each line
 * begin it, which writes the prompt, and take bytes until the event is not LINE_MORE. line has max
 * >= 1 bytes; it is valid UTF-8 (what is not becomes U+FFFD) and ends with a NUL at every event. */
void line_editor_begin(struct line_editor *e, const char *prompt, char *line, size_t max);
enum line_event line_editor_take(struct line_editor *e, int byte);

/* The input has ended: a character that has begun is completed. LINE_FINISHED or LINE_TOO_LONG if
 * there is text, else LINE_END. */
enum line_event line_editor_close(struct line_editor *e);

/* Ctrl-L: clear the terminal's screen, and write prompt and line anew; below, where there is none. */
void line_editor_redraw(struct line_editor *e);

/* Something else is to be written: go below the line. And prompt and line anew, at column 0. */
void line_editor_leave(struct line_editor *e);
void line_editor_resume(struct line_editor *e);

/* Ask how wide the terminal is; the answer comes as input, and so does what tells that there is
 * one. */
void line_editor_ask_width(struct line_editor *e);

/* text, NUL-terminated, is what followed an ESC: true, and taken, if it is the answer. */
bool line_editor_take_answer(struct line_editor *e, const char *text);

#endif
