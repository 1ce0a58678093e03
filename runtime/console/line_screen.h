/* The line editor's picture on a terminal (line_screen.c); line_editor.c alone includes it. */
#ifndef INGOT_RUNTIME_LINE_SCREEN_H
#define INGOT_RUNTIME_LINE_SCREEN_H

#include "runtime/console/line_editor.h"

/* Text as it is; nothing where there is no echo. */
void line_screen_write(const struct line_editor *e, const char *text, size_t bytes);

/* The prompt, which stands out on a terminal. */
void line_screen_prompt(const struct line_editor *e);

/* The line has changed anywhere: write it anew and put the cursor to its place. */
void line_screen_draw(struct line_editor *e);

/* The terminal was `columns` wide, and is e->columns now: write the line anew. The rows of the old
 * picture are taken to be wrapped by the terminal where they no longer fit, with the cursor in its
 * place among them, as most terminals do it; they go. One that cuts them off instead loses as many
 * rows above the prompt. */
void line_screen_rewrap(struct line_editor *e, uint32_t columns);

/* The cursor moved within the same line. */
void line_screen_move(struct line_editor *e);

/* `bytes` were appended at the end of the line, where the cursor now is. */
void line_screen_append(struct line_editor *e, size_t bytes);

/* Characters of so many columns were taken off the end of a line, where the cursor now is. */
void line_screen_take_back(struct line_editor *e, unsigned columns);

/* The line is finished: go below its last row. */
void line_screen_leave(struct line_editor *e, const char *mark);

#endif
