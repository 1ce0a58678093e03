/* Checks a finished reply against its request's schemas (serve_hold.h) in a worker thread,
 * because a check can take long and the server's own thread must answer other requests. */
#ifndef INGOT_HOST_SERVE_CHECK_H
#define INGOT_HOST_SERVE_CHECK_H

#include "host/api/serve_backend.h"

enum { SERVE_ERROR_MESSAGE_BYTES = API_ERROR_TEXT_BYTES - 100 };

struct serve_check;

/* Begins to check the reply of a finished job, and holds the job. The server is woken at the end.
 * NULL: no memory. */
struct serve_check *serve_check_begin(struct serve_job *j);

/* True if the check has ended; then *good or error_message has the result, and k is freed. */
bool serve_check_take(struct serve_check *k, bool *good,
                      char error_message[SERVE_ERROR_MESSAGE_BYTES]);

/* Frees a check for which nobody waits any more, now or when it ends. */
void serve_check_leave(struct serve_check *k);

#endif
