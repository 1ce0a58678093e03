/* Reads zip archives (PKWARE's APPNOTE 6.3): names, and files that are stored or deflated. The
 * whole archive is in memory. */
#ifndef INGOT_FLASH_IMAGE_CARD_ZIP_H
#define INGOT_FLASH_IMAGE_CARD_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Larger files are refused; the largest firmware file has 3 MiB. */
enum { CARD_ZIP_MOST_BYTES = 256 << 20 };

struct card_zip {
    const uint8_t *data;
    size_t bytes;
    size_t next; /* the directory's next entry, for card_zip_next */
    size_t end;  /* of the directory */
};

struct card_zip_entry {
    const char *name; /* not terminated; a folder's name ends in a slash */
    size_t name_bytes;
    uint64_t bytes;
    uint64_t packed_bytes;
    uint64_t at; /* offset of its local header */
    uint32_t crc32;
    uint16_t flags, method;
};

/* True if the file starts like an archive, even an empty one. */
bool card_zip_is_one(const uint8_t *data, size_t bytes);

/* Find the directory of the archive. Return NULL on success, else the reason why the archive cannot
 * be read, without a full stop. */
const char *card_zip_open(struct card_zip *z, const uint8_t *data, size_t bytes);

/* Read the next entry. False at the end of the directory, or if the next entry is damaged. */
bool card_zip_next(struct card_zip *z, struct card_zip_entry *e);

/* Unpack e to out (e->bytes, at most CARD_ZIP_MOST_BYTES) and compare its checksum. Return NULL on
 * success, else the reason, as above. */
const char *card_zip_read(const struct card_zip *z, const struct card_zip_entry *e, uint8_t *out);

/* ---- card_inflate.c ---- */

/* Unpack packed_bytes of DEFLATE to exactly n bytes. False if the data are damaged, or unpack to
 * another length. Source: RFC 1951. */
bool card_inflate(const uint8_t *packed, size_t packed_bytes, uint8_t *bytes, size_t n);

#endif
