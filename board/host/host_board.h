/* The host's struct board: threads for cores, futex for sleep, standard streams for a console. */
#ifndef INGOT_BOARD_HOST_HOST_BOARD_H
#define INGOT_BOARD_HOST_HOST_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/board.h"
#include "board/host/host_memory.h"

/* From now on write text to standard error, as log lines, if `on`; else where replies go. */
void host_console_to_log(bool on);

/* Send replies to file descriptor fd (1 at first), and forget earlier errors. */
void host_console_replies_to(int fd);

/* Pass log lines through `rewrite`, which turns `in` (n bytes) into `out` (at most `most` bytes)
 * and returns the size of `out`. */
void host_console_rewrite_log(size_t (*rewrite)(const char *in, size_t n, char *out, size_t most));

/* Return the errno of the first failed write of replies, after which the input ends too; 0 if every
 * flushed byte was written. */
int host_console_error(void);

/* Write the bytes in the buffer. */
void host_console_flush(void);

/* Results of getc that are not bytes, as in runtime/console/console.h. */
enum { HOST_NO_BYTE = -1, HOST_CLOSED = -2 };

/* Open the streams, with standard input if interactive. Returns true if the input is a terminal,
 * whose lines are edited as on a board (board/host/host_terminal.h). */
bool host_streams_open(bool interactive);

/* From now on Ctrl-C is an input byte, which stops a reply; a second one that arrives before the
 * first was read acts as SIGINT did before this call. */
void host_streams_take_interrupts(void);

/* Describe this computer in *m: cores online, features, and RAM. Its RAM is address space that is
 * reserved as `memory` requests; a page costs nothing until it is used. Returns false after
 * reporting that there is no memory. */
bool host_machine(struct machine *m, struct host_memory *memory);

#endif
