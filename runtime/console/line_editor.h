/* Editing of one line, and the history of lines. The editor takes bytes and writes text and, for a
 * terminal, ECMA-48 control sequences. It does not know the device. It runs only on core 0.
 *
 * A far end that may not be a terminal gets plain text: typed text is echoed at the end of the
 * line, and deleted by BS, space, BS. On a terminal the whole line, with all its rows, is redrawn
 * if the cursor is not at its end. */
#ifndef INGOT_RUNTIME_LINE_EDITOR_H
#define INGOT_RUNTIME_LINE_EDITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/console/line_history.h"
#include "runtime/text/utf8.h"

enum {
    LINE_DEFAULT_COLUMNS = 80, /* width of a terminal that has not reported it */
    LINE_MIN_COLUMNS = 8,      /* narrower terminals are treated as this wide */
    LINE_SEQUENCE_BYTES = 16,  /* bytes of a control sequence; longer ones are ignored */
};

enum line_event {
    LINE_MORE,     /* the line is not finished */
    LINE_FINISHED, /* Enter */
    LINE_TOO_LONG, /* Enter after a line that was too long: only its beginning was read */
    LINE_ABORTED,  /* Ctrl-C */
    LINE_END,      /* Ctrl-D on an empty line */
    LINE_SILENT,   /* no byte came for too long; not returned by line_editor_take() */
};

struct line_editor {
    /* Set by the owner before line_editor_begin. */
    void (*write)(void *context, const char *text, size_t bytes); /* LF starts a row at column 0 */
    void *context;
    bool echo;        /* true: write typed text, because the far end does not echo */
    bool terminal;    /* the far end obeys control sequences; also set by the first key that only a
                       * terminal has */
    bool plain;       /* the far end is not a terminal: keys that exist only on a terminal do
                       * nothing */
    uint32_t columns; /* width of the terminal; 0: LINE_DEFAULT_COLUMNS */
    uint32_t most_columns; /* width of a display that also shows the text; 0: no display */
    bool more;             /* more input waits: the line is redrawn after it; may change between any
                            * two bytes */

    /* The line. */
    const char *prompt; /* ASCII, at column 0 */
    char *line;
    size_t max; /* size of line, with a NUL */
    size_t n;
    size_t cursor; /* byte offset of the cursor, where a character begins, or n */
    bool too_long;
    bool pasting;  /* within a bracketed paste: CR and LF are text */
    bool after_cr; /* the last line ended with CR: ignore an LF that follows */

    /* The terminal as the editor drew it; row 0 is the prompt's row. */
    uint32_t row;                   /* row of the cursor */
    uint32_t last_row, last_column; /* where the line ends */
    bool behind; /* the line has changed since, and is redrawn when no more input waits */

    /* Input bytes that form one character or one key. */
    struct utf8_writer utf8;
    char sequence[LINE_SEQUENCE_BYTES];
    uint8_t n_sequence; /* 0: no sequence has begun */

    struct line_history history;
};

/* First set write, context, echo, terminal, plain and columns of a zeroed struct. Then for each
 * line call line_editor_begin, which writes the prompt, and line_editor_take for each byte until it
 * returns an event other than LINE_MORE. line has max >= 1 bytes; it is valid UTF-8 (invalid bytes
 * become U+FFFD) and ends with a NUL at every event. */
void line_editor_begin(struct line_editor *e, const char *prompt, char *line, size_t max);
enum line_event line_editor_take(struct line_editor *e, int byte);

/* The input has ended: complete a character that has begun. Returns LINE_FINISHED or LINE_TOO_LONG
 * if there is text, otherwise LINE_END. */
enum line_event line_editor_close(struct line_editor *e);

/* Ctrl-L: clear the terminal's screen, then write prompt and line again; without a terminal,
 * write them below. */
void line_editor_redraw(struct line_editor *e);

/* Call _leave before other text is written: it moves the cursor below the line. _resume writes
 * prompt and line again, at column 0. */
void line_editor_leave(struct line_editor *e);
void line_editor_resume(struct line_editor *e);

/* Return how many columns a row may have: those of the terminal, and not more than those of the
 * display. */
uint32_t line_editor_columns(const struct line_editor *e);

/* Ask how wide the terminal is. The answer comes as input and shows that there is a terminal. */
void line_editor_ask_width(struct line_editor *e);

/* An ESC and then text (NUL-terminated) have come. If the text is the terminal's answer, use it and
 * return true. */
bool line_editor_take_answer(struct line_editor *e, const char *text);

#endif
