#include "runtime/storage/halves.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/base/crc32c.h"
#include "runtime/text/format_text.h"

enum { NOT_ARRIVED = 0xa5 }; /* byte that fills the buffer before a read */

/* The data that may be lost if a half is overwritten. */
enum worth {
    WORTH_NOTHING, /* blank, or damaged */
    WORTH_UNKNOWN, /* the card cannot read the half, at least now */
    WORTH_ALL,     /* the half was read completely and is valid */
};

uint64_t halves_to_sectors(uint64_t bytes)
{
    return (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES * SECTOR_BYTES;
}

uint64_t halves_room(const struct file *file)
{
    /* A half has whole sectors, so that the second half begins at a sector. */
    return file->bytes / 2 / SECTOR_BYTES * SECTOR_BYTES;
}

bool halves_error_is_local(enum err e)
{
    return e == ERR_IO || e == ERR_BAD_CHECKSUM;
}

void halves_begin(struct halves *v, const struct file *file, void *buffer, size_t bytes,
                  char *error_message, size_t message_bytes)
{
    v->file = file;
    v->buffer = buffer;
    v->bytes = bytes;
    v->error_message = error_message;
    v->message_bytes = message_bytes;
    error_message[0] = '\0';
}

/* ---- bytes on their way --------------------------------------------------------------------- */

/* Set the message for an error of v->io. Returns the error. */
static enum err io_error_message(struct halves *v, enum err e, const char *what)
{
    if (e != ERR_OK) {
        format_text(v->error_message, v->message_bytes, "%s: cannot %s at sector %llu of %s: %s",
                    v->file->name, what, (unsigned long long)v->io.failed_sector,
                    v->file->device->name, block_device_reason(v->file->device, e));
    }
    return e;
}

enum err halves_not_kept(struct halves *v, enum err e)
{
    if (e == ERR_BAD_CHECKSUM) {
        format_text(v->error_message, v->message_bytes,
                    "%s: %s returned other bytes than were written: try again, or take another "
                    "card; what was saved before is still there",
                    v->file->name, v->file->device->name);
    }
    return e;
}

/* The buffer may already hold the expected bytes, so fill it first. Otherwise a read that brings
 * nothing, or a stale cache line, would look like success. */
static enum err read_sectors(struct halves *v, uint64_t at, void *to, size_t bytes)
{
    memset(to, NOT_ARRIVED, bytes);
    return io_error_message(v, file_read_now(&v->io, v->file, at, to, bytes), "read");
}

static enum err write_sectors(struct halves *v, uint64_t at, const void *from, size_t bytes)
{
    return io_error_message(v, file_write_now(&v->io, v->file, at, from, bytes), "write");
}

enum err halves_read_buffer(struct halves *v, uint64_t at, size_t bytes)
{
    return read_sectors(v, at, v->buffer, bytes);
}

enum err halves_write_buffer(struct halves *v, uint64_t at, size_t bytes)
{
    return write_sectors(v, at, v->buffer, bytes);
}

enum err halves_pass(struct halves *v, unsigned half, uint64_t n, halves_look_fn *look,
                     void *context, uint32_t *crc)
{
    uint64_t begin = half * halves_room(v->file) + SECTOR_BYTES;

    *crc = 0;
    for (uint64_t at = 0; at < n; at += v->bytes) {
        size_t bytes = (size_t)min_u64(n - at, v->bytes);
        /* The card moves whole sectors, but the CRC is only of the payload. */
        enum err e = halves_read_buffer(v, begin + at, (size_t)halves_to_sectors(bytes));

        if (e == ERR_OK) {
            *crc = crc32c(*crc, v->buffer, bytes);
        }
        if (e == ERR_OK && look != NULL) {
            e = look(context, at, v->buffer, bytes);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

/* ---- headers -------------------------------------------------------------------------------- */

static uint32_t header_crc(const struct half_header *h)
{
    return crc32c_of_header(h, sizeof *h, &h->header_crc);
}

/* Find the newest half: among halves with a valid header, the one of the later save. */
static void find_newest(struct halves *v)
{
    v->newest = v->valid[1] && (!v->valid[0] || v->h[1].sequence > v->h[0].sequence);
}

static enum err read_header(struct halves *v, const char *magic, unsigned half)
{
    uint64_t room = halves_room(v->file);
    struct half_header *h = &v->h[half];
    enum err e;

    /* Without room for a header and one sector, the file is empty, or was cut off. */
    if (room < 2 * SECTOR_BYTES) {
        v->is_cut = v->file->bytes != 0;
        return ERR_OK;
    }
    e = read_sectors(v, half * room, &v->sector, SECTOR_BYTES);
    *h = v->sector;
    v->unreadable[half] = e == ERR_IO;
    v->valid[half] = e == ERR_OK && memcmp(h->magic, magic, sizeof h->magic) == 0 &&
                     h->header_crc == header_crc(h);
    /* If the error concerns only this half, the other half may be good. */
    return halves_error_is_local(e) ? ERR_OK : e;
}

enum err halves_read(struct halves *v, const char *magic)
{
    enum err e = ERR_OK;

    v->is_cut = false;
    for (unsigned half = 0; half < 2; half++) {
        memset(&v->h[half], 0, sizeof v->h[half]);
        v->valid[half] = false;
        v->unreadable[half] = false;
        if (e == ERR_OK) {
            e = read_header(v, magic, half);
        }
    }
    find_newest(v);
    return e;
}

void halves_drop(struct halves *v, unsigned half)
{
    v->valid[half] = false;
    find_newest(v);
}

enum err halves_find(const struct halves *v)
{
    if (v->valid[v->newest]) {
        return ERR_OK;
    }
    /* The contents of an unreadable part are unknown. */
    return v->unreadable[0] || v->unreadable[1] ? ERR_IO : ERR_NOT_FOUND;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Set *worth to what would be lost with a half. Returns errors of `check` that tell nothing about
 * the half. */
static enum err weigh(const struct halves *v, unsigned half, halves_check_fn *check, void *context,
                      enum worth *worth)
{
    enum err e = ERR_OK;

    *worth = v->unreadable[half] ? WORTH_UNKNOWN : WORTH_NOTHING;
    if (!v->valid[half]) {
        return ERR_OK;
    }
    e = check(context, half);
    switch (e) {
    case ERR_OK: *worth = WORTH_ALL; return ERR_OK;
    case ERR_IO: *worth = WORTH_UNKNOWN; return ERR_OK;
    case ERR_BAD_CHECKSUM:
    case ERR_BAD_MODEL: return ERR_OK;
    default: return e;
    }
}

enum err halves_choose_kept(const struct halves *v, halves_check_fn *check, void *context,
                            unsigned *kept)
{
    unsigned newest = v->newest, other = 1 - newest;
    enum worth worth[2];
    enum err e = weigh(v, newest, check, context, &worth[newest]);

    *kept = newest;
    /* The newest half is complete, so the older half may be overwritten without reading it. */
    if (e != ERR_OK || worth[newest] == WORTH_ALL) {
        return e;
    }
    e = weigh(v, other, check, context, &worth[other]);
    if (worth[other] > worth[newest]) {
        *kept = other;
    }
    /* Either half could be the only good save. */
    if (e == ERR_OK && worth[newest] == WORTH_UNKNOWN && worth[other] == WORTH_UNKNOWN) {
        e = ERR_IO;
    }
    return e;
}

uint64_t halves_next_sequence(const struct halves *v)
{
    return v->valid[v->newest] ? v->h[v->newest].sequence + 1 : 1;
}

enum err halves_write_header(struct halves *v, unsigned half, const void *header)
{
    uint64_t at = half * halves_room(v->file);
    enum err e;

    /* A header that is written only in part has a wrong CRC, so that the other half stays the
     * newest. */
    memcpy(&v->sector, header, sizeof v->sector);
    v->sector.header_crc = header_crc(&v->sector);
    e = write_sectors(v, at, &v->sector, SECTOR_BYTES);
    if (e == ERR_OK) {
        e = halves_read_buffer(v, at, SECTOR_BYTES);
    }
    if (e == ERR_OK && memcmp(v->buffer, &v->sector, SECTOR_BYTES) != 0) {
        e = ERR_BAD_CHECKSUM;
    }
    return halves_not_kept(v, e);
}
