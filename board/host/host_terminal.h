/* A person's terminal, byte by byte as a board's line has it: no echo and no lines made by the
 * kernel. Its settings are restored at the end, however the program ends. */
#ifndef INGOT_BOARD_HOST_HOST_TERMINAL_H
#define INGOT_BOARD_HOST_HOST_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

/* False: standard input or output is not a terminal, or TERM says that it obeys nothing; it stays as
 * it is. Ctrl-C, Ctrl-Z and Ctrl-\ stay signals, Ctrl-S and Ctrl-Q the kernel's. Once. */
bool host_terminal_open(void);

/* How wide the terminal at standard output is; 0: it is none, or does not say. */
uint32_t host_terminal_columns(void);

/* Ctrl-C is an input byte like the others, or a signal (at first, and while the program does not
 * read). */
void host_terminal_take_ctrl_c(bool as_byte);

/* Restore it; async-signal-safe, and nothing where it is not open. */
void host_terminal_close(void);

/* The next of some bytes that a terminal cannot send by itself, or -1: its width, at first and
 * after each change, and Ctrl-L when the program goes on after a stop. */
int host_terminal_news(void);

/* Whether some of that was returned, and more is to come. */
bool host_terminal_in_news(void);

#endif
