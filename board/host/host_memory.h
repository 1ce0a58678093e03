/* The memory that a process may have: the computer's, or less where something limits it. */
#ifndef INGOT_BOARD_HOST_HOST_MEMORY_H
#define INGOT_BOARD_HOST_HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host_memory {
    /* what is asked for */
    uint64_t most;    /* bytes at most; 0: all there are */
    uint64_t mapped;  /* bytes of files that will be mapped beside it */
    unsigned threads; /* that will be started */
    const char *root; /* in front of /proc and /sys, for tests; NULL: nothing */
    /* what it is */
    void *base; /* addresses alone: pages come when they are written */
    size_t bytes;
    const char *limit; /* what left no more: "ulimit -v"; NULL: it is the computer's, or `most` */
};

/* Reserve as much as there is. False: not even a little, m->limit says what leaves none. */
bool host_memory_reserve(struct host_memory *m);

/* Have the system give pages to these bytes now, which keep what they hold: who writes them first waits for none. A system that
 * cannot (before Linux 5.14), or has too few, leaves them as they are. */
void host_memory_touch(void *base, size_t bytes);

#endif
