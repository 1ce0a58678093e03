/* The host's struct board: threads for cores, futex for sleep, standard streams for a console. */
#ifndef INGOT_BOARD_HOST_HOST_BOARD_H
#define INGOT_BOARD_HOST_HOST_BOARD_H

#include <stddef.h>
#include <stdint.h>

#include "board/board.h"

/* Console output goes to file descriptor `to` from now on (1 replies, 2 log lines). */
void host_console_to(int to);

/* Bytes written so far leave the buffer. */
void host_console_flush(void);

/* Start the console; interactive: standard input is read, and Ctrl-C arrives as a byte. On a
 * terminal lines are then edited as on a board (board/host/host_terminal.h). */
void host_console_open(bool interactive);

/* Fill *m with this computer: cores online, features, all RAM as address space that costs
 * nothing until it is touched. False: no memory (said on standard error). */
bool host_machine(struct machine *m);

#endif
