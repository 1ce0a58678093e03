#include "host/cli/record_list.h"

#include <stdlib.h>

#include "runtime/base/crc32c.h"

static int compare(const void *a, const void *b)
{
    uint64_t x = ((const struct record *)a)->sequence, y = ((const struct record *)b)->sequence;

    return (x > y) - (x < y);
}

bool record_list_read(struct record_list *l, const uint8_t *file, size_t bytes)
{
    size_t sectors = bytes / SECTOR_BYTES;

    *l = (struct record_list){ .list = calloc(sectors + 1, sizeof *l->list) };
    if (l->list == NULL) {
        return false;
    }
    for (size_t i = 0; i < sectors; i++) {
        const uint8_t *at = file + i * SECTOR_BYTES;
        struct record_header h;

        if (!record_ring_look(at, sectors - i, &h)) {
            continue;
        }
        if (crc32c(0, at + sizeof h, h.bytes) != h.crc) {
            l->damaged++;
            continue;
        }
        l->list[l->n++] = (struct record){ h.sequence, (const char *)at + sizeof h, h.bytes };
        i += (size_t)record_ring_sectors(h.bytes) - 1;
    }
    qsort(l->list, l->n, sizeof *l->list, compare);
    return true;
}

void record_list_free(struct record_list *l)
{
    free(l->list);
    l->list = NULL;
}
