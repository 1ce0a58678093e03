/* How slowly the other side of a connection takes what is sent to it. The clock runs only while bytes wait for that side, so a
 * slow server costs a stream nothing. A side that takes less than SERVE_PACE_BYTES a second builds up a delay; one that takes
 * more works it off. */
#ifndef INGOT_HOST_SERVE_PACE_H
#define INGOT_HOST_SERVE_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SERVE_PACE_BYTES = 512 /* bytes that each side has to take every second */ };

/* Zeroed: nothing was sent. */
struct serve_pace {
    bool waits;    /* bytes that waited to be taken at `since` */
    int64_t since; /* ms */
    int64_t owed;  /* bytes that should have been taken, in thousandths */
};

/* Bytes begin to wait. now: ms of a clock that never goes back. */
void serve_pace_wait(struct serve_pace *p, int64_t now);

/* Bytes (n) were taken. all: none waits any more. */
void serve_pace_take(struct serve_pace *p, int64_t now, size_t n, bool all);

/* Returns by how many milliseconds the other side is late. */
int64_t serve_pace_delay(const struct serve_pace *p, int64_t now);

#endif
