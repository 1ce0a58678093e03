#include "flash_image/card/card_zip.h"

#include <string.h>

#include "runtime/storage/partitions.h"

/* Signatures, and the size of each record without its variable part (APPNOTE 4.3). */
#define LOCAL_FILE 0x04034b50u
#define DIRECTORY_ENTRY 0x02014b50u
#define END_64_LOCATOR 0x07064b50u
#define END_64 0x06064b50u
#define END_OF_DIRECTORY 0x06054b50u
enum {
    LOCAL_BYTES = 30,
    ENTRY_BYTES = 46,
    LOCATOR_BYTES = 20,
    END_64_BYTES = 56,
    END_BYTES = 22,
    MOST_COMMENT = 0xffff
};
enum { ENCRYPTED = 1 << 0, STORED = 0, DEFLATED = 8, EXTRA_64 = 1 }; /* 4.4.4, 4.4.5, 4.5.3 */

static uint32_t u16_at(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t u32_at(const uint8_t *p)
{
    return u16_at(p) | u16_at(p + 2) << 16;
}

static uint64_t u64_at(const uint8_t *p)
{
    return (uint64_t)u32_at(p) | (uint64_t)u32_at(p + 4) << 32;
}

static bool has(const struct card_zip *z, uint64_t at, uint64_t bytes)
{
    return at <= z->bytes && bytes <= z->bytes - at;
}

bool card_zip_is_one(const uint8_t *data, size_t bytes)
{
    return bytes >= END_BYTES && (u32_at(data) == LOCAL_FILE || u32_at(data) == END_OF_DIRECTORY);
}

/* Find the record at the archive's end, which a comment may follow (4.3.16). NULL: there is
 * none. */
static const uint8_t *find_end(const uint8_t *data, size_t bytes)
{
    for (size_t comment = 0; comment <= MOST_COMMENT && comment + END_BYTES <= bytes; comment++) {
        const uint8_t *at = data + bytes - END_BYTES - comment;

        if (u32_at(at) == END_OF_DIRECTORY && u16_at(at + 20) == comment) {
            return at;
        }
    }
    return NULL;
}

/* An archive with more than 65,535 files or 4 GiB stores the position of its directory in a record
 * before the last one (4.3.14, 4.3.15). */
static bool read_end_64(const struct card_zip *z, const uint8_t *end, uint64_t *start,
                        uint64_t *bytes)
{
    uint64_t at;

    if (end - z->data < LOCATOR_BYTES || u32_at(end - LOCATOR_BYTES) != END_64_LOCATOR) {
        return false;
    }
    at = u64_at(end - LOCATOR_BYTES + 8);
    if (!has(z, at, END_64_BYTES) || u32_at(z->data + at) != END_64) {
        return false;
    }
    *bytes = u64_at(z->data + at + 40);
    *start = u64_at(z->data + at + 48);
    return true;
}

const char *card_zip_open(struct card_zip *z, const uint8_t *data, size_t bytes)
{
    const uint8_t *end = find_end(data, bytes);
    uint64_t start, n;

    *z = (struct card_zip){ .data = data, .bytes = bytes };
    if (end == NULL) {
        return "the archive has no end: it was not downloaded completely";
    }
    if (u16_at(end + 4) != u16_at(end + 6) && u16_at(end + 4) != 0xffff) {
        return "the archive is one part of several; unpack it and give the folder";
    }
    n = u32_at(end + 12);
    start = u32_at(end + 16);
    if ((n == UINT32_MAX || start == UINT32_MAX || u16_at(end + 10) == 0xffff) &&
        !read_end_64(z, end, &start, &n) && (n == UINT32_MAX || start == UINT32_MAX)) {
        return "the archive is damaged: its directory is not where its last record says";
    }
    if (!has(z, start, n)) {
        return "the archive is damaged: its directory is not where its last record says";
    }
    z->next = (size_t)start;
    z->end = (size_t)(start + n);
    return NULL;
}

/* Read the sizes and the offset that do not fit 32 bits; they are stored in this order (4.5.3). */
static bool read_extra(struct card_zip_entry *e, const uint8_t *extra, size_t bytes)
{
    uint64_t *fields[] = { &e->bytes, &e->packed_bytes, &e->at };

    while (bytes >= 4 && u16_at(extra) != EXTRA_64 && u16_at(extra + 2) <= bytes - 4) {
        size_t step = 4 + u16_at(extra + 2);

        extra += step;
        bytes -= step;
    }
    if (bytes < 4 || u16_at(extra) != EXTRA_64 || u16_at(extra + 2) > bytes - 4) {
        return false;
    }
    bytes = u16_at(extra + 2);
    extra += 4;
    for (unsigned i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (*fields[i] != UINT32_MAX) {
            continue;
        }
        if (bytes < 8) {
            return false;
        }
        *fields[i] = u64_at(extra);
        extra += 8;
        bytes -= 8;
    }
    return true;
}

bool card_zip_next(struct card_zip *z, struct card_zip_entry *e)
{
    const uint8_t *p = z->data + z->next;
    size_t name, extra, whole;

    if (z->end - z->next < ENTRY_BYTES || u32_at(p) != DIRECTORY_ENTRY) {
        return false;
    }
    name = u16_at(p + 28);
    extra = u16_at(p + 30);
    whole = ENTRY_BYTES + name + extra + u16_at(p + 32);
    if (whole > z->end - z->next) {
        return false;
    }
    *e = (struct card_zip_entry){ .name = (const char *)p + ENTRY_BYTES,
                                  .name_bytes = name,
                                  .flags = (uint16_t)u16_at(p + 8),
                                  .method = (uint16_t)u16_at(p + 10),
                                  .crc32 = u32_at(p + 16),
                                  .packed_bytes = u32_at(p + 20),
                                  .bytes = u32_at(p + 24),
                                  .at = u32_at(p + 42) };
    z->next += whole;
    return (e->bytes != UINT32_MAX && e->packed_bytes != UINT32_MAX && e->at != UINT32_MAX) ||
           read_extra(e, p + ENTRY_BYTES + name, extra);
}

const char *card_zip_read(const struct card_zip *z, const struct card_zip_entry *e, uint8_t *out)
{
    const uint8_t *p = z->data + e->at;
    uint64_t start;

    if ((e->flags & ENCRYPTED) != 0) {
        return "it is encrypted";
    }
    if (!has(z, e->at, LOCAL_BYTES) || u32_at(p) != LOCAL_FILE) {
        return "the archive is damaged: the file is not where its directory says";
    }
    start = e->at + LOCAL_BYTES + u16_at(p + 26) + u16_at(p + 28);
    if (e->bytes > CARD_ZIP_MOST_BYTES || !has(z, start, e->packed_bytes)) {
        return "the archive is damaged, or was not downloaded completely";
    }
    if (e->method == STORED && e->packed_bytes == e->bytes) {
        memcpy(out, z->data + start, (size_t)e->bytes);
    } else if (e->method != DEFLATED) {
        return "it is compressed by an unknown method; unpack the archive and give the folder";
    } else if (!card_inflate(z->data + start, (size_t)e->packed_bytes, out, (size_t)e->bytes)) {
        return "the archive is damaged: the file cannot be unpacked";
    }
    if (partitions_crc32(0, out, (uint32_t)e->bytes) != e->crc32) {
        return "the archive is damaged: the file's checksum differs";
    }
    return NULL;
}
