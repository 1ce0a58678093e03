/* How slowly the other side of a connection takes what is sent to it. The clock runs only while bytes wait for that side, so a stream
 * whose server is the slow one costs nothing. A side that takes less than SERVE_PACE_BYTES a second runs up a delay; one that takes more
 * works it off. */
#ifndef INGOT_HOST_SERVE_PACE_H
#define INGOT_HOST_SERVE_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SERVE_PACE_BYTES = 512 /* a second that each side has to take */ };

/* Zeroed: nothing was sent. */
struct serve_pace {
    bool waits;    /* bytes wait to be taken, counted up to `since` */
    int64_t since; /* ms */
    int64_t owed;  /* thousandths of a byte that should have been taken */
};

/* Bytes wait to be taken. now: ms, of a clock that never goes back. */
void serve_pace_wait(struct serve_pace *p, int64_t now);

/* Bytes (n) were taken; all: none waits any more. */
void serve_pace_take(struct serve_pace *p, int64_t now, size_t n, bool all);

/* Milliseconds by which the other side is behind. */
int64_t serve_pace_delay(const struct serve_pace *p, int64_t now);

#endif
