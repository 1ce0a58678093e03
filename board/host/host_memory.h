/* Reserves the memory that a process may have: all of the computer's, or less if a limit is set. */
#ifndef INGOT_BOARD_HOST_HOST_MEMORY_H
#define INGOT_BOARD_HOST_HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host_memory {
    /* what the caller requests */
    uint64_t most;    /* the most bytes to reserve; 0: as many as possible */
    uint64_t mapped;  /* bytes of files that will be mapped in addition */
    unsigned threads; /* number of threads that will be started */
    const char *root; /* prefix of /proc and /sys, for tests; NULL: none */
    /* what host_memory_reserve has reserved */
    void *base; /* reserved addresses: pages are allocated when they are written */
    size_t bytes;
    const char *limit; /* name of the limit that applied, such as "ulimit -v"; NULL: the computer's
                          memory, or `most` */
};

/* Reserve as much memory as possible. Returns false if that is under 1 MiB; m->limit says why. */
bool host_memory_reserve(struct host_memory *m);

/* Make the system allocate the pages of these bytes now, without changing them, so that the first
 * write does not wait. A system that cannot do that (before Linux 5.14), or has too few pages,
 * changes nothing. */
void host_memory_touch(void *base, size_t bytes);

#endif
