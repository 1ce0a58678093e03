/* Boards as a backend of `ingot serve`: each at a line of its own, with a thread of its own; all take from one queue. */
#ifndef INGOT_HOST_SERVE_BOARDS_H
#define INGOT_HOST_SERVE_BOARDS_H

#include "host/serve/serve_backend.h"

/* Whether a word of the command line names a board's line: a device, unix:PATH or tcp:HOST:PORT. */
bool serve_boards_is_line(const char *word);

/* Begin with the boards at lines (n), devices at baud (0: 115200), and wait until one of them answers: *model is what it has
 * (SERVE_MODEL_BYTES), and boards with another one get nothing to do. False: said on standard error. One a process. */
bool serve_boards_open(struct serve_backend *b, const char *const *lines, uint32_t n, uint32_t baud,
                       struct serve_wake wake, char *model);

/* Requests that wait or run end with an error; the threads end. */
void serve_boards_close(struct serve_backend *b);

#endif
