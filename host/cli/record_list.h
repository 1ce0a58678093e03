/* Lists the records of a ring (runtime/storage/record_ring.h) that was read as a whole. */
#ifndef INGOT_HOST_RECORD_LIST_H
#define INGOT_HOST_RECORD_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/storage/record_ring.h"

struct record {
    uint64_t sequence;
    const char *text; /* (bytes) in the file */
    uint32_t bytes;
};

struct record_list {
    struct record *list; /* by sequence; malloc()ed */
    size_t n;
    size_t
        damaged; /* number of headers without their bytes, because the power failed or newer records
                    overwrote these */
};

/* List the records of a file (`bytes` bytes), which must outlive the list. False: out of memory. */
bool record_list_read(struct record_list *l, const uint8_t *file, size_t bytes);
void record_list_free(struct record_list *l);

#endif
