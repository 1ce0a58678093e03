/* Standard output and standard error of the program. Names, error messages about files, and a
 * board's output are foreign text, so control characters in them become U+FFFD on output
 * (runtime/text/shown_text.h). This is so on a terminal, in a pipe and in a file, because a file
 * may be shown later. Files that the user asks a command to write are not changed. */
#ifndef INGOT_HOST_SHOWN_STREAMS_H
#define INGOT_HOST_SHOWN_STREAMS_H

#include <stdbool.h>

/* Replace stdout and stderr; call this before anything is printed. On standard error, a CR at the
 * beginning of a call of fprintf begins a progress line, which is redrawn; any other CR is from
 * foreign text. */
void shown_streams_open(void);

/* Each call of fprintf writes one line to standard error: a line feed before its end, or another
 * character that breaks a name (shown_breaks_name), becomes U+FFFD. Set `on` to false for our own
 * text of several lines, which then does not change. */
void shown_streams_lines(bool on);

/* Returns a foreign name as shown_name() makes it for a line of output: a copy that is valid until
 * the thread has made seven more copies. */
const char *name_shown(const char *name);

/* From now on, wrap standard output between words (runtime/text/word_wrap.h) if it is a terminal.
 * Typing also moves the cursor: call the second function when typing has begun a new row. */
void shown_streams_wrap(void);
void shown_streams_begin_row(void);

#endif
