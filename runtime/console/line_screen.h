/* The line editor's picture on a terminal (line_screen.c); only line_editor.c includes it. */
#ifndef INGOT_RUNTIME_LINE_SCREEN_H
#define INGOT_RUNTIME_LINE_SCREEN_H

#include "runtime/console/line_editor.h"

/* Write text unchanged if e->echo is set, otherwise nothing. */
void line_screen_write(const struct line_editor *e, const char *text, size_t bytes);

/* Write text of the line; a tab takes one column, because its width would depend on its place. */
void line_screen_text(const struct line_editor *e, const char *text, size_t bytes);

/* Write the prompt, which is highlighted on a terminal. */
void line_screen_prompt(const struct line_editor *e);

/* Redraw the whole line after any change, and place the cursor. */
void line_screen_draw(struct line_editor *e);

/* The line has changed: redraw it now or, if more input waits, at line_screen_catch_up(). So a
 * text that is pasted into the middle of a line costs few drawings, and not one for each byte. */
void line_screen_change(struct line_editor *e);
void line_screen_catch_up(struct line_editor *e);

/* A row had `columns` columns, and has line_editor_columns() now: redraw the line. The function
 * assumes that the terminal has wrapped rows that no longer fit, and has kept the cursor on its
 * character, as most terminals do. The function erases these rows. On a terminal that cuts rows off
 * instead, the same number of rows above the prompt is lost. */
void line_screen_rewrap(struct line_editor *e, uint32_t columns);

/* Call when the cursor has moved within the line. */
void line_screen_move(struct line_editor *e);

/* `bytes` were appended at the end of the line, where the cursor is now. */
void line_screen_append(struct line_editor *e, size_t bytes);

/* Characters that took `columns` columns in all were removed at the end of the line, where the
 * cursor is. */
void line_screen_take_back(struct line_editor *e, unsigned columns);

/* The line is finished: go below its last row. */
void line_screen_leave(struct line_editor *e, const char *mark);

#endif
