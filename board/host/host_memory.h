/* The memory that a process may have: the computer's, or less if something limits it. */
#ifndef INGOT_BOARD_HOST_HOST_MEMORY_H
#define INGOT_BOARD_HOST_HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host_memory {
    /* what is asked for */
    uint64_t most;    /* bytes at most; 0: all there are */
    uint64_t mapped;  /* bytes of files that will be mapped in addition */
    unsigned threads; /* that will be started */
    const char *root; /* in front of /proc and /sys, for tests; NULL: nothing */
    /* what it is */
    void *base; /* only addresses: pages are allocated when they are written */
    size_t bytes;
    const char *limit; /* the limit: "ulimit -v"; NULL: it is the computer's, or `most` */
};

/* Reserve as much as there is. False: there is hardly any memory, and m->limit says why. */
bool host_memory_reserve(struct host_memory *m);

/* Make the system allocate the pages of these bytes now, without changing them, so that the first
 * write does not wait. A system that cannot (before Linux 5.14), or has too few, leaves them as
 * they are. */
void host_memory_touch(void *base, size_t bytes);

#endif
