/* Measures how slowly the other side of a connection takes bytes. The clock runs only while bytes
 * wait for that side, so a slow server does not count. The delay grows while that side takes less
 * than SERVE_PACE_BYTES per second, and shrinks while it takes more. */
#ifndef INGOT_HOST_SERVE_PACE_H
#define INGOT_HOST_SERVE_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SERVE_PACE_BYTES = 512 /* bytes that the other side has to take every second */ };

/* Zeroed: nothing was sent. */
struct serve_pace {
    bool waits;    /* bytes were waiting to be taken at `since` */
    int64_t since; /* ms */
    int64_t owed;  /* thousandths of a byte that are overdue at `since` */
};

/* Record that bytes begin to wait. now: ms of a clock that never goes back. */
void serve_pace_wait(struct serve_pace *p, int64_t now);

/* Record that n bytes were taken. all: no more bytes wait. */
void serve_pace_take(struct serve_pace *p, int64_t now, size_t n, bool all);

/* Returns the delay of the other side in milliseconds. */
int64_t serve_pace_delay(const struct serve_pace *p, int64_t now);

#endif
