/* Records in a file that keeps its size and place. If the file is full, new records replace the
 * oldest. A record begins at a sector, with a header in front of its bytes, and never continues at
 * the file's front. A record's first sector is written last. So after a power cut at any sector the
 * record is there completely or not at all, and only records that it replaces may be lost. */
#ifndef INGOT_RUNTIME_RECORD_RING_H
#define INGOT_RUNTIME_RECORD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/storage/file.h"

/* Header of a record, little-endian. The record's bytes follow, then zeros to the sector's end. */
struct record_header {
    char magic[8];       /* "INGOTREC" */
    uint32_t version;    /* 1 */
    uint32_t header_crc; /* CRC-32C of the header with this field zero */
    uint64_t sequence;   /* number of the record; the file's first is 1 */
    uint32_t bytes;      /* number of bytes after the header, at least 1 */
    uint32_t crc;        /* CRC-32C of the bytes after the header */
};
_Static_assert(sizeof(struct record_header) == 32, "no holes");

struct record_ring {
    const struct file *file;
    struct file_read io;
    uint64_t sectors;  /* sectors of the file */
    uint64_t next;     /* place of the next record */
    uint64_t sequence; /* number of the newest record, or 0 */
};

/* Read a header from a sector. Return false if no record begins there, or if the record does not
 * fit in this many sectors. */
bool record_ring_look(const uint8_t *sector, uint64_t sectors, struct record_header *h);
uint64_t record_ring_sectors(uint32_t bytes);

/* Find the newest record. The file is read once, through `buffer` (bytes, whole sectors, 64-byte
 * aligned), which is free again afterwards. Errors of file.h. */
enum err record_ring_open(struct record_ring *r, const struct file *file, void *buffer,
                          size_t bytes);

/* Append a record. `buffer`, 64-byte aligned, has room for the header, then the bytes, and reaches
 * to the end of the last sector. ERR_NO_SPACE: the file is shorter than the record. After errors of
 * file.h the newest record is still the previous one. */
enum err record_ring_append(struct record_ring *r, void *buffer, uint32_t bytes);

#endif
