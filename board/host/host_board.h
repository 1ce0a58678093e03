/* The host's struct board: threads for cores, futex for sleep, standard streams for a console. */
#ifndef INGOT_BOARD_HOST_HOST_BOARD_H
#define INGOT_BOARD_HOST_HOST_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/board.h"
#include "board/host/host_memory.h"

/* Text from now on is log lines, for standard error (on), or replies. */
void host_console_to_log(bool on);

/* Replies go to file descriptor fd, 1 at first, and nothing of them has failed yet. */
void host_console_replies_to(int fd);

/* Log lines pass through rewrite on their way: in (n bytes) to out (most), returns how many. */
void host_console_rewrite_log(size_t (*rewrite)(const char *in, size_t n, char *out, size_t most));

/* The errno of the first write of replies that failed, after which the input is at its end, too; 0: all
 * that was flushed is written. */
int host_console_error(void);

/* Bytes written so far leave the buffer. */
void host_console_flush(void);

/* The results of getc beside bytes, as runtime/console/console.h has them. */
enum { HOST_NO_BYTE = -1, HOST_CLOSED = -2 };

/* interactive: standard input is read, too. True: it is a terminal, whose lines are edited as on a board
 * (board/host/host_terminal.h). */
bool host_streams_open(bool interactive);

/* From now on Ctrl-C is an input byte, which stops a reply; a second one that arrives before the
 * first was read acts as SIGINT did before this call. */
void host_streams_take_interrupts(void);

/* Fill *m with this computer: cores online, features, and RAM as address space that costs nothing until it is touched, as
 * much as `memory` asks for and gets. False: no memory (said on standard error). */
bool host_machine(struct machine *m, struct host_memory *memory);

#endif
