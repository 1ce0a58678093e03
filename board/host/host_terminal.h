/* A person's terminal, byte by byte as a board's line has it: no echo and no lines made by the
 * kernel. What it was is restored at the end, whatever ends the program. */
#ifndef INGOT_BOARD_HOST_HOST_TERMINAL_H
#define INGOT_BOARD_HOST_HOST_TERMINAL_H

#include <stdbool.h>

/* False: standard input or output is no terminal, or TERM says that it obeys nothing; it stays as
 * it is. Ctrl-C, Ctrl-Z and Ctrl-\ stay signals, Ctrl-S and Ctrl-Q the kernel's. Once. */
bool host_terminal_open(void);

/* Whether Ctrl-C is a byte, in its turn among the others, or (at first) a signal: while nobody
 * looks at the bytes. */
void host_terminal_take_ctrl_c(bool as_byte);

/* Restore it; async-signal-safe, and nothing where it is not open. */
void host_terminal_close(void);

/* What the terminal would send by itself if it could: how wide it is, at first and after each
 * change, and Ctrl-L when the program goes on after a stop. The next byte of that, or -1. */
int host_terminal_news(void);

/* Whether some of that was returned, and more is to come. */
bool host_terminal_in_news(void);

#endif
