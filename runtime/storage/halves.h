/* Writes and reads saved files: conversations, prefixes, data of features, and the use of experts.
 * The file already exists and keeps its size and place, so a save never changes the file system.
 *
 * The two halves of a file are written alternately. A half is a header of one sector and a payload.
 * The current half is the one that has a valid header, a payload that matches its CRC, and the
 * highest sequence number. The payload is written first and read back, because a card may report a
 * write that it did not do. The header is written last. So a power cut at any sector leaves the old
 * save or the new one. */
#ifndef INGOT_RUNTIME_HALVES_H
#define INGOT_RUNTIME_HALVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/storage/file.h"

/* The beginning of every header. Little-endian, like everything on a card. */
struct half_header {
    char magic[8];       /* the kind of saved data */
    uint32_t version;    /* version of `rest` and of the payload */
    uint32_t header_crc; /* CRC-32C of the sector with this field zero */
    uint64_t sequence;   /* number of this save; the file's first is 1 */
    uint8_t rest[488];   /* for the owner */
};
_Static_assert(sizeof(struct half_header) == SECTOR_BYTES, "written in one piece");

/* A file that is being read or written. */
struct halves {
    const struct file *file;
    struct file_read io;
    uint8_t *buffer; /* (bytes, whole sectors) the owner's buffer, 64-byte aligned */
    size_t bytes;
    char *error_message; /* the owner's message, which every function that returns an error sets */
    size_t message_bytes;
    struct half_header h[2];
    bool valid[2];                          /* header [i] is valid */
    bool unreadable[2];                     /* the device cannot read header [i] */
    bool is_cut;                            /* the file is shorter than its saved data */
    unsigned newest;                        /* the valid half with the highest sequence number; 0 if
                                             * none is valid */
    _Alignas(64) struct half_header sector; /* buffer for a header */
};

uint64_t halves_to_sectors(uint64_t bytes); /* rounds up to whole sectors */
/* Return the bytes of a half, with its header. */
uint64_t halves_room(const struct file *file);
/* Return true if an error concerns only a place on the card, not the whole card. */
bool halves_error_is_local(enum err e);

/* Begin an operation on a file. buffer (bytes) is 64-byte aligned and has whole sectors.
 * error_message (message_bytes) becomes empty. buffer and error_message are used until the
 * operation ends. Errors: none. */
void halves_begin(struct halves *v, const struct file *file, void *buffer, size_t bytes,
                  char *error_message, size_t message_bytes);

/* Read both headers. A sector that cannot be read is noted; other errors of file.h are returned. */
enum err halves_read(struct halves *v, const char *magic);
/* Record that a half's header has proved invalid. */
void halves_drop(struct halves *v, unsigned half);
/* Check that a half has a valid header. ERR_NOT_FOUND: neither half has one (no message is set).
 * ERR_IO: a header that may be valid cannot be read. */
enum err halves_find(const struct halves *v);

/* Gets a buffer with the next bytes of a payload, at offset `at`. An error ends the read. */
typedef enum err halves_look_fn(void *context, uint64_t at, const uint8_t *bytes, size_t n);
/* Read the n bytes of a payload, one buffer at a time. look may be NULL. *crc becomes the CRC-32C
 * of the payload. Errors of file.h and of look. */
enum err halves_pass(struct halves *v, unsigned half, uint64_t n, halves_look_fn *look,
                     void *context, uint32_t *crc);

/* Read or write one buffer of whole sectors at file offset `at`. Errors of file.h. */
enum err halves_read_buffer(struct halves *v, uint64_t at, size_t bytes);
enum err halves_write_buffer(struct halves *v, uint64_t at, size_t bytes);

/* Checks all of a valid half. Returns ERR_OK if its save is complete, ERR_BAD_CHECKSUM or
 * ERR_BAD_MODEL if it may be overwritten. */
typedef enum err halves_check_fn(void *context, unsigned half);
/* Choose the half that must stay, which is the newest complete half. The higher sequence number
 * alone does not decide: if the half with that number is damaged, the next save could overwrite the
 * only good half. ERR_IO: neither half can be read, so neither may be overwritten. Errors of
 * check. */
enum err halves_choose_kept(const struct halves *v, halves_check_fn *check, void *context,
                            unsigned *kept);
uint64_t halves_next_sequence(const struct halves *v);

/* Write the header (a struct half_header of any alignment; header_crc is set here), and read it
 * back. Errors of file.h. ERR_BAD_CHECKSUM: the card returned other bytes. */
enum err halves_write_header(struct halves *v, unsigned half, const void *header);
/* If e is ERR_BAD_CHECKSUM, set the message that the card returned other bytes of the payload than
 * were written. Returns e. */
enum err halves_not_kept(struct halves *v, enum err e);

#endif
