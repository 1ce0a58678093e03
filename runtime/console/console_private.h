/* Shared declarations of the console's files; no other folder includes this header. console.c,
 * console_input.c and console_json.c call each other on purpose: a line that is read is echoed, and
 * a written byte may belong to an event. */
#ifndef INGOT_RUNTIME_CONSOLE_PRIVATE_H
#define INGOT_RUNTIME_CONSOLE_PRIVATE_H

#include "runtime/console/console.h"

/* Send our own text (bytes), including control sequences, to the device. The only change is that LF
 * becomes CR LF on a serial line. */
void console_put(struct console *c, const char *text, size_t bytes);

/* Like console_put, for a control sequence that moves the cursor to the beginning of a row. */
void console_put_sequence(struct console *c, const char *sequence);

/* If we have asked whether there is a terminal, and the answer has arrived, take the answer. */
void console_look_for_answer(struct console *c);

/* Make a display show what was written: at once if `now` is true, otherwise when the next drawing
 * is due. */
void console_refresh(const struct console *c, bool now);

/* Erase a drawn progress line. */
void console_progress_erase(struct console *c);

/* The write function of the line editor. It erases a drawn progress line, then calls
 * console_put(). */
void console_put_editor(void *context, const char *text, size_t bytes);

bool console_text_begins(const char *text, size_t bytes, const char *word);

/* When a program is at the far end, console_write(), console_log() and the progress use these
 * functions to write events. */
void console_json_start(struct console *c);
void console_json_write(struct console *c, const char *text, size_t bytes);
void console_json_log(struct console *c, uint64_t millis, const char *text, size_t bytes);

/* Return true if the line that has just been completed in the ring cancels the running request. */
bool console_line_cancels(const struct console *c);

#endif
