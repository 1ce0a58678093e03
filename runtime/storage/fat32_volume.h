/* Shared only by the parts of FAT32 and exFAT: fat32.c and exfat.c read the volume and its FAT,
 * partitions.c finds where volumes begin, fat32_directory.c and exfat_directory.c read
 * directories. */
#ifndef INGOT_RUNTIME_FAT32_VOLUME_H
#define INGOT_RUNTIME_FAT32_VOLUME_H

#include <stdint.h>

#include "board/err.h"
#include "runtime/storage/fat32.h"

enum {
    FAT32_ENTRY_BYTES = 32, /* bytes of a directory entry */
    FAT32_SECTOR_ENTRIES = SECTOR_BYTES / FAT32_ENTRY_BYTES,
    FAT32_SECTOR_CLUSTERS = SECTOR_BYTES / 4, /* number of FAT entries in a sector */
};

enum { /* byte offsets in a short entry */
       DIR_ATTR = 11,
       DIR_NT_RES = 12, /* 0x08 if the base name, 0x10 if the extension is in lower case */
       DIR_CREATED_TIME = 14,
       DIR_CREATED = 16,
       DIR_ACCESSED = 18,
       DIR_CLUSTER_HIGH = 20,
       DIR_WRITTEN_TIME = 22,
       DIR_WRITTEN = 24,
       DIR_CLUSTER_LOW = 26,
       DIR_FILE_SIZE = 28,
};
enum {
    ATTR_READ_ONLY = 0x01,
    ATTR_VOLUME = 0x08,
    ATTR_DIRECTORY = 0x10,
    ATTR_ARCHIVE = 0x20,
    ATTR_LONG_NAME = 0x0f,
    ATTR_LONG_MASK = 0x3f
};
enum { NAME_END = 0x00, NAME_DELETED = 0xe5, NAME_IS_E5 = 0x05 };

enum { /* byte offsets in a long entry */
       LDIR_ORD = 0,
       LDIR_ATTR = 11,
       LDIR_CHECKSUM = 13,
       LDIR_LAST = 0x40,
       LDIR_UNITS = 13,
};
extern const uint8_t fat32_unit_offsets[LDIR_UNITS]; /* offsets of UTF-16 units in a long entry */

/* Return the checksum that ties long entries to a short name of 11 bytes. */
uint8_t fat32_name_checksum(const uint8_t *short_name);

/* Set fs->why; returns e. */
enum err fat32_fail(struct fat32 *fs, enum err e, const char *why);

/* Set fs->sealed of a mounted volume. If has_length is true, compare the length of the volume with
 * that of the partition. */
void fat32_seal(struct fat32 *fs, bool has_length);

/* Set *out to the 512 bytes of a sector of the device, valid until the next call. ERR_TRUNCATED: it
 * is beyond the partition or the device. ERR_IO, ERR_TIMEOUT. */
enum err fat32_fetch_sector(struct fat32 *fs, uint64_t sector, const uint8_t **out);

/* Set *next to the cluster after `cluster`, or to 0 at the chain's end. ERR_BAD_FILESYSTEM:
 * `cluster` or the next is outside the volume. */
enum err fat32_next_cluster(struct fat32 *fs, uint32_t cluster, uint32_t *next);

/* Return the first sector of a cluster. */
uint64_t fat32_cluster_sector(const struct fat32 *fs, uint32_t cluster);

bool fat32_is_cluster(const struct fat32 *fs, uint32_t cluster);

/* Open the folder of an entry, or the root if entry is NULL. ERR_BAD_FILESYSTEM: the folder is
 * outside the volume. */
enum err fat32_start_directory(struct fat32 *fs, const struct fat32_entry *entry,
                               struct fat32_directory *out);

/* Set *out to the next 32 bytes of the directory, or to NULL at its end. */
enum err fat32_next_raw(struct fat32_directory *dir, const uint8_t **out);

/* Write a name of at most n UTF-16 units, up to a zero, as UTF-8 of at most FAT32_NAME_BYTES. */
void fat32_put_long_name(const uint16_t *units, unsigned n, char *out);

/* Read a little-endian field at any address. */
static inline uint32_t fat32_u16(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static inline uint32_t fat32_u32(const uint8_t *p)
{
    return fat32_u16(p) | fat32_u16(p + 2) << 16;
}

static inline uint64_t fat32_u64(const uint8_t *p)
{
    return fat32_u32(p) | (uint64_t)fat32_u32(p + 4) << 32;
}

/* Return true if two names are equal, ignoring case. */
bool fat32_names_equal(const char *a, size_t a_bytes, const char *b, size_t b_bytes);

/* Return true for the name of an AppleDouble file. macOS puts such a file, with attributes, beside
 * each file that it copies to FAT or exFAT. */
static inline bool fat32_is_apple_double(const char *name)
{
    return name[0] == '.' && name[1] == '_';
}

/* Return true if the sector is a boot sector of any FAT, and not a partition table; both end in 55
 * AA. */
bool fat32_is_boot_sector(const uint8_t *boot);

/* Read the description of a volume from its boot sector at fs->first_sector. Errors: those of
 * fat32_mount. */
enum err fat32_mount_fat(struct fat32 *fs, const uint8_t *boot);

#endif
