#include "runtime/storage/record_ring.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/base/crc32c.h"

enum { VERSION = 1 };

static const char magic[sizeof((struct record_header *)0)->magic + 1] = "INGOTREC";

uint64_t record_ring_sectors(uint32_t bytes)
{
    return ((uint64_t)bytes + sizeof(struct record_header) + SECTOR_BYTES - 1) / SECTOR_BYTES;
}

static uint32_t header_crc(const struct record_header *h)
{
    return crc32c_of_header(h, sizeof *h, &h->header_crc);
}

bool record_ring_look(const uint8_t *sector, uint64_t sectors, struct record_header *h)
{
    memcpy(h, sector, sizeof *h);
    return memcmp(h->magic, magic, sizeof h->magic) == 0 && h->version == VERSION &&
           h->header_crc == header_crc(h) && h->bytes != 0 && h->sequence != 0 &&
           record_ring_sectors(h->bytes) <= sectors;
}

/* Look for headers in the sectors of the buffer. The first sector has number `at`. */
static void look_at(struct record_ring *r, uint64_t at, const uint8_t *buffer, uint64_t n)
{
    struct record_header h;

    for (uint64_t i = 0; i < n; i++) {
        if (record_ring_look(buffer + i * SECTOR_BYTES, r->sectors - at - i, &h) &&
            h.sequence > r->sequence) {
            r->sequence = h.sequence;
            r->next = at + i + record_ring_sectors(h.bytes);
        }
    }
}

enum err record_ring_open(struct record_ring *r, const struct file *file, void *buffer,
                          size_t bytes)
{
    uint64_t most = bytes / SECTOR_BYTES;
    uint64_t n;

    *r = (struct record_ring){ .file = file, .sectors = file->bytes / SECTOR_BYTES };
    for (uint64_t at = 0; at < r->sectors; at += n) {
        enum err e;

        n = min_u64(most, r->sectors - at);
        memset(buffer, 0, (size_t)n * SECTOR_BYTES); /* a read that brings nothing finds zeros,
                                                      * which are not a header */
        e = file_read_now(&r->io, file, at * SECTOR_BYTES, buffer, (size_t)n * SECTOR_BYTES);
        if (e != ERR_OK) {
            return e;
        }
        look_at(r, at, buffer, n);
    }
    return ERR_OK;
}

static enum err write_sectors(struct record_ring *r, uint64_t at, const uint8_t *from, uint64_t n)
{
    return file_write_now(&r->io, r->file, at * SECTOR_BYTES, from, (size_t)n * SECTOR_BYTES);
}

enum err record_ring_append(struct record_ring *r, void *buffer, uint32_t bytes)
{
    uint64_t n = record_ring_sectors(bytes), at = r->next;
    struct record_header h = { .version = VERSION, .sequence = r->sequence + 1, .bytes = bytes };
    uint8_t *first = buffer, *text = first + sizeof h;
    enum err e = ERR_OK;

    if (n > r->sectors) {
        return ERR_NO_SPACE;
    }
    if (n > r->sectors - at) {
        at = 0;
    }
    memset(text + bytes, 0, (size_t)(n * SECTOR_BYTES) - sizeof h - bytes);
    memcpy(h.magic, magic, sizeof h.magic);
    h.crc = crc32c(0, text, bytes);
    h.header_crc = header_crc(&h);
    memcpy(first, &h, sizeof h);
    if (n > 1) {
        e = write_sectors(r, at + 1, first + SECTOR_BYTES, n - 1);
    }
    if (e == ERR_OK) { /* when a write returns, its bytes are on the card */
        e = write_sectors(r, at, first, 1);
    }
    if (e == ERR_OK) {
        r->next = at + n;
        r->sequence++;
    }
    return e;
}
