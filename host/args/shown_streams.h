/* Standard output and standard error of the program. Names, error messages about files, and a
 * board's output are foreign text, so control characters in them become U+FFFD
 * (runtime/text/shown_text.h) on output: on a terminal, in a pipe and in a file, because a file may
 * be shown later. Files that the user asks a command to write are not changed. */
#ifndef INGOT_HOST_SHOWN_STREAMS_H
#define INGOT_HOST_SHOWN_STREAMS_H

#include <stdbool.h>

/* Replace stdout and stderr; call this before anything is printed. A CR begins a progress line on
 * standard error, which is redrawn: only the CR at the beginning of a call of fprintf is our
 * own. */
void shown_streams_open(void);

/* Each call of fprintf writes one line to standard error: a line feed before its end, or another
 * character that breaks a name (shown_breaks_name), becomes U+FFFD. on false: our own text of
 * several lines follows, which is not changed. */
void shown_streams_lines(bool on);

/* A foreign name for a line of standard output, made by shown_name(): a copy that is valid until
 * the thread has made seven more. */
const char *name_shown(const char *name);

/* From now on, wrap standard output between words (runtime/text/word_wrap.h) if it is a terminal.
 * Typing moves the cursor there too; report with the function below when it begins a row. */
void shown_streams_wrap(void);
void shown_streams_begin_row(void);

#endif
