/* Standard output and standard error of the program. Names, error messages about files and what a board
 * sends are somebody else's: on their way out, control characters among them become U+FFFD
 * (runtime/text/shown_text.h), on a terminal, in a pipe and in a file alike, for what is kept in a
 * file is shown one day. Files that a command is told to write are not touched. */
#ifndef INGOT_HOST_SHOWN_STREAMS_H
#define INGOT_HOST_SHOWN_STREAMS_H

#include <stdbool.h>

/* Replace stdout and stderr; before anything is printed. A CR begins a progress line on standard
 * error, drawn over itself: the CR that a call of fprintf begins with is our own. */
void shown_streams_open(void);

/* Each call of fprintf writes one line to standard error: a line feed before its end, or another character that breaks a name
 * (shown_breaks_name), becomes U+FFFD. on false: our own text of several lines follows, which stays as it is. */
void shown_streams_lines(bool on);

/* A name of somebody else's as a piece of a line of standard output, by shown_name(): a copy that stays until the thread has
 * asked for seven more. */
const char *name_shown(const char *name);

/* From now on rows of standard output end between words (runtime/text/word_wrap.h) where it is a terminal.
 * A person's typing moves the cursor there: say so when it begins a row. */
void shown_streams_wrap(void);
void shown_streams_begin_row(void);

#endif
