/* A request of a line over HTTP (http_line.h): whether it cancels another one, and its end in place
 * of the board's. */
#ifndef INGOT_HOST_HTTP_REQUEST_H
#define INGOT_HOST_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

/* Send all bytes to a socket that does not block. Returns false if it is closed or takes nothing. */
bool http_put_all(int fd, const char *bytes, size_t n);

/* End the request line[0, n): send the event `error` with this name and text, unless text is NULL,
 * then the event `done` with this reason, both with the request's id. Returns false if fd is
 * closed. */
bool http_request_end(int fd, const char *line, size_t n, const char *name, const char *text,
                      const char *reason);

/* Return true if line[0, n) is {"cancel":ID} with the id of the request other[0, n_other), or, with
 * `running`, {"cancel":true}. */
bool http_request_cancels(const char *line, size_t n, const char *other, size_t n_other,
                          bool running);

#endif
