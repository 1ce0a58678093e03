/* The lines that a line editor remembers, and which of them it shows (line_history.c). */
#ifndef INGOT_RUNTIME_LINE_HISTORY_H
#define INGOT_RUNTIME_LINE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

enum { LINE_HISTORY_BYTES = 4096 }; /* bytes of the remembered lines, each with its NUL */

/* A zeroed history is empty. */
struct line_history {
    char text[LINE_HISTORY_BYTES]; /* lines, the oldest first, each with a NUL */
    size_t bytes;
    size_t shown;   /* offset of the line shown, or `bytes` for the line being typed */
    bool has_typed; /* the last line of text is the line being typed */
};

/* Keep n bytes and add a NUL; the oldest lines are dropped if there is no room. Empty lines, the
 * same line twice in a row and lines longer than the whole room are not kept. */
void line_history_add(struct line_history *h, const char *line, size_t n);

/* Forget all lines. */
void line_history_clear(struct line_history *h);

/* A new line is being typed. */
void line_history_rewind(struct line_history *h);

/* Return the older or newer line, NUL-terminated and valid until the next call. Returns NULL if
 * there is no such line, or no room for typed[0, n), the line being typed, which is kept until the
 * next line so that line_history_newer() can return to it. */
const char *line_history_older(struct line_history *h, const char *typed, size_t n);
const char *line_history_newer(struct line_history *h);

#endif
