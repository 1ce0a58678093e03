/* The check of a finished reply against its request's schemas (serve_hold.h), in a worker's thread: it may take as long as schemas and
 * reply make it, and the server's own thread has to answer others meanwhile. */
#ifndef INGOT_HOST_SERVE_CHECK_H
#define INGOT_HOST_SERVE_CHECK_H

#include "host/serve/serve_backend.h"

enum { SERVE_ERROR_MESSAGE_BYTES = SERVE_ERROR_TEXT_BYTES - 100 };

struct serve_check;

/* Begin to check the reply of a job that is done, and hold the job; the server is woken at the end. NULL: no memory. */
struct serve_check *serve_check_begin(struct serve_job *j);

/* Whether it has ended: it is freed then, and *good or error_message says what came of it. */
bool serve_check_take(struct serve_check *k, bool *good,
                      char error_message[SERVE_ERROR_MESSAGE_BYTES]);

/* Nobody waits for it any more: it is freed now, or once it has ended. */
void serve_check_leave(struct serve_check *k);

#endif
