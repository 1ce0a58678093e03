/* Boards as a backend of `ingot serve`: each has its own line and thread, and all take jobs from
 * one queue. */
#ifndef INGOT_HOST_SERVE_BOARDS_H
#define INGOT_HOST_SERVE_BOARDS_H

#include "host/api/serve_backend.h"

/* True if a word of the command line names a board's line: a device, unix:PATH or tcp:HOST:PORT. */
bool serve_boards_is_line(const char *word);

/* Start with the boards at n lines (devices at baud; 0: 115200), and wait until a board answers.
 * *model (API_MODEL_BYTES) is that board's model; boards with another model get no jobs. Returns
 * false after printing the error. Only one pool of boards per process. */
bool serve_boards_open(struct serve_backend *b, const char *const *lines, uint32_t n, uint32_t baud,
                       struct serve_wake wake, char *model);

/* End the threads; waiting and running requests end with an error. */
void serve_boards_close(struct serve_backend *b);

#endif
