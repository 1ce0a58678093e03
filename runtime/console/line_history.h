/* The lines that a line editor remembers, and which of them it shows (line_history.c). */
#ifndef INGOT_RUNTIME_LINE_HISTORY_H
#define INGOT_RUNTIME_LINE_HISTORY_H

#include <stddef.h>

enum { LINE_HISTORY_BYTES = 4096 }; /* bytes of the remembered lines, each with its NUL */

/* A zeroed history is empty. */
struct line_history {
    char text[LINE_HISTORY_BYTES]; /* lines, the oldest first, each with a NUL */
    size_t bytes;
    size_t shown; /* offset of the line shown, or `bytes` for the line being typed */
};

/* Keep n bytes and add a NUL; the oldest lines are dropped if there is no room. Empty lines, the
 * same line twice in a row and lines longer than the whole room are not kept. */
void line_history_add(struct line_history *h, const char *line, size_t n);

/* Forget all lines. */
void line_history_clear(struct line_history *h);

/* Return from old lines to the line being typed. */
void line_history_rewind(struct line_history *h);

/* Return the older or newer line, NUL-terminated and valid until a line is added; "" for the line
 * being typed. Returns NULL if there is no such line. Text typed so far is lost. */
const char *line_history_older(struct line_history *h);
const char *line_history_newer(struct line_history *h);

#endif
