/* The writer of what is saved: conversations, prefixes, what features keep, and how experts are used. The file is there beforehand
 * and keeps its size and place, so a save never writes the file system.
 *
 * Two halves take turns. A half is a header of one sector and a payload. The valid header with the higher sequence number whose
 * payload's CRC matches counts. The payload is written first and read back, since a card may lie about what it wrote; the header
 * is written last. So power lost at any sector leaves the old save or the new one. */
#ifndef INGOT_RUNTIME_HALVES_H
#define INGOT_RUNTIME_HALVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/storage/file.h"

/* The beginning of every header. Little-endian, like everything on a card. */
struct half_header {
    char magic[8];       /* what is saved here */
    uint32_t version;    /* version of the rest and of the payload */
    uint32_t header_crc; /* CRC-32C of the sector with this field zero */
    uint64_t sequence;   /* number of this save; the file's first is 1 */
    uint8_t rest[488];   /* the owner's own */
};
_Static_assert(sizeof(struct half_header) == SECTOR_BYTES, "written in one piece");

/* A file while it is read or written. */
struct halves {
    const struct file *file;
    struct file_read io;
    uint8_t *buffer; /* the owner's, 64-byte aligned; bytes: whole sectors */
    size_t bytes;
    char *error_message; /* the owner's; set by every function that returns an error */
    size_t message_bytes;
    struct half_header h[2];
    bool valid[2];                          /* h is valid */
    bool unreadable[2];                     /* the device gives an error for it */
    bool is_cut;                            /* the file is shorter than what was saved there */
    unsigned newest;                        /* the highest of the valid ones; 0 without any */
    _Alignas(64) struct half_header sector; /* a header on its way */
};

uint64_t halves_to_sectors(uint64_t bytes); /* rounded up to whole sectors */
/* Bytes of a half, with its header. */
uint64_t halves_room(const struct file *file);
/* Whether an error concerns the place on the card, and not the card. */
bool halves_error_is_local(enum err e);

/* Begin an operation on a file. buffer is 64-byte aligned and of `bytes` bytes, whole sectors; error_message, of
 * message_bytes bytes, becomes empty. Both are used until the operation ends. Errors: none. */
void halves_begin(struct halves *v, const struct file *file, void *buffer, size_t bytes,
                  char *error_message, size_t message_bytes);

/* Read both headers. A sector that cannot be read is noted; other errors of file.h are returned. */
enum err halves_read(struct halves *v, const char *magic);
/* The header of a half is not valid after all. */
void halves_drop(struct halves *v, unsigned half);
/* ERR_NOT_FOUND: no half has a valid header (no message is set). ERR_IO: perhaps one has, but it cannot be read. */
enum err halves_find(const struct halves *v);

/* Read the n bytes of a payload, a bufferful at a time, each with its offset. An error ends the read. */
typedef enum err halves_look_fn(void *context, uint64_t at, const uint8_t *bytes, size_t n);
/* look may be NULL. *crc: the CRC-32C of the payload. Errors of file.h and of look. */
enum err halves_pass(struct halves *v, unsigned half, uint64_t n, halves_look_fn *look,
                     void *context, uint32_t *crc);

/* One bufferful at file offset `at`, whole sectors. Errors of file.h. */
enum err halves_read_buffer(struct halves *v, uint64_t at, size_t bytes);
enum err halves_write_buffer(struct halves *v, uint64_t at, size_t bytes);

/* Check all of a valid half: ERR_OK if its save is whole, ERR_BAD_CHECKSUM or ERR_BAD_MODEL if nothing would be lost with it. */
typedef enum err halves_check_fn(void *context, unsigned half);
/* Choose the half that stays: the newest whole one, not the one whose header says that it is newer, since otherwise the next save
 * would overwrite the only good one. ERR_IO: the card returns neither, so neither may be touched. Errors of check. */
enum err halves_choose_kept(const struct halves *v, halves_check_fn *check, void *context,
                            unsigned *kept);
uint64_t halves_next_sequence(const struct halves *v);

/* Write the header (struct half_header, 64-byte aligned or not; its header_crc is set here), and read it back. Errors of file.h;
 * ERR_BAD_CHECKSUM: the card returned other bytes. */
enum err halves_write_header(struct halves *v, unsigned half, const void *header);
/* Set the message if a payload came back with other bytes than were written (ERR_BAD_CHECKSUM); returns e. */
enum err halves_not_kept(struct halves *v, enum err e);

#endif
