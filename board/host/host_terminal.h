/* The user's terminal, read byte by byte like a board's serial line: the kernel neither echoes nor
 * collects lines. The terminal's settings are restored at the end, however the program ends. */
#ifndef INGOT_BOARD_HOST_HOST_TERMINAL_H
#define INGOT_BOARD_HOST_HOST_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

/* Return true if standard output is a terminal whose TERM does not say that it has no control
 * sequences. */
bool host_terminal_obeys(void);

/* Open the terminal; call once. Returns false if standard input is not a terminal, or if
 * host_terminal_obeys() is false. Ctrl-C, Ctrl-Z and Ctrl-\ stay signals; the
 * kernel handles Ctrl-S and Ctrl-Q. */
bool host_terminal_open(void);

/* Return the width of the terminal at standard output; 0 if there is no terminal, or if it does not
 * report its width. */
uint32_t host_terminal_columns(void);

/* Make Ctrl-C an input byte, or a signal (as at first, and while the program does not read
 * input). */
void host_terminal_take_ctrl_c(bool as_byte);

/* Restore the terminal; async-signal-safe. Does nothing if the terminal is not open. */
void host_terminal_close(void);

/* Return the next byte of a message that we send in the terminal's name, or -1 if there is none.
 * The message is the width (at first and after each change), or Ctrl-L (when the program continues
 * after a stop). */
int host_terminal_news(void);

/* True if a message was returned in part, and more of it will follow. */
bool host_terminal_in_news(void);

#endif
