/* The parts of exFAT that differ from FAT32, without allocation. fat32.h mounts both, and has the
 * common code for paths, models and chains. Files are found only by their entries. The bitmap of
 * clusters in use is read before a file is written in place (fat32_proof.h), but is not needed for
 * reading. The upper-case table is not needed either, because names compare as on FAT32. Source:
 * Microsoft's exFAT file system specification; names of fields are its own. */
#ifndef INGOT_RUNTIME_EXFAT_H
#define INGOT_RUNTIME_EXFAT_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"

struct fat32;
struct fat32_directory;
struct fat32_entry;

/* Return true if a boot sector (512 bytes) belongs to exFAT. */
bool exfat_is_boot_sector(const uint8_t *boot);

/* Mount the volume that begins at a sector, by its boot region or, if that has a wrong checksum, by
 * the region's copy. ERR_BAD_FILESYSTEM: fs->why says what is wrong. ERR_UNSUPPORTED: another
 * revision. ERR_IO, ERR_TIMEOUT, ERR_TRUNCATED: the device. */
enum err exfat_mount(struct fat32 *fs, uint64_t sector);

/* The two tables of the root folder: the bitmap of clusters in use, and the upper-case table. */
struct exfat_tables {
    uint32_t bitmap_cluster, upcase_cluster; /* upcase_cluster is 0 without that table */
    uint64_t bitmap_bytes, upcase_bytes;
};

/* Find both tables. ERR_NOT_FOUND: there is no bitmap. ERR_BAD_FILESYSTEM, and errors of the
 * device. */
enum err exfat_find_tables(struct fat32 *fs, struct exfat_tables *out);

/* Works like fat32_next_entry, for exFAT. Damaged sets of entries are skipped; dir->damaged is
 * set. */
enum err exfat_next_entry(struct fat32_directory *dir, struct fat32_entry *out);

#endif
