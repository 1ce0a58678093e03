/* Reads FAT32, and exFAT through exfat.h, without allocation. Finds models on a card and resolves
 * them to extents. Source: Microsoft Extensible Firmware Initiative FAT32 File System Specification
 * 1.03. */
#ifndef INGOT_RUNTIME_FAT32_H
#define INGOT_RUNTIME_FAT32_H

#include <stdbool.h>
#include <stdint.h>

#include "board/block_device.h"
#include "board/err.h"
#include "runtime/storage/file.h"

enum {
    FAT32_NAME_BYTES = 768, /* 255 UTF-16 units in UTF-8, and a NUL */
    FAT32_NAME_UNITS = 260, /* 20 directory entries of 13 UTF-16 units */
    FAT32_TEXT_BYTES = 224,
    FAT32_BUFFER_SECTORS = 32, /* sectors of the FAT that are read at once, with 4096 entries */
};

struct fat32 {
    const char *why;       /* what is wrong after an error, as one sentence, or NULL */
    uint64_t first_sector; /* the volume's first sector on the device */
    uint64_t n_sectors;    /* sectors that the volume says it has */
    uint64_t end_sector;   /* end of the partition or device; sectors from this one on are neither
                            * read nor written */
    const char *sealed;    /* why files cannot be made, or NULL if they can */
    uint64_t fat_sector;   /* first sector of the FAT in use */
    uint64_t data_sector;  /* sector of cluster 2 */
    uint64_t fat_sectors;  /* number of sectors of one FAT */
    uint32_t n_mirrors;    /* FAT32: number of further FATs that are kept equal */
    uint64_t info_sector;  /* sector of FSInfo, or 0 */
    uint64_t copy_sector;  /* FAT32: sector of the boot sector's copy, or 0 */
    uint32_t n_clusters;   /* clusters have the numbers 2 to n_clusters + 1 */
    uint32_t cluster_sectors;
    uint32_t root_cluster;
    uint32_t entry_mask; /* the significant bits of a FAT entry */
    uint32_t chain_end;  /* an entry of this value or more ends a chain */
    bool is_exfat;
    unsigned active_fat; /* exFAT: the FAT and bitmap in use, 0 or 1 */
    struct file device;  /* the whole device, for reading its sectors */
    struct file_read read;
    uint64_t buffer_sector;               /* first sector in `buffer` */
    uint32_t buffer_sectors;              /* number of sectors in `buffer` */
    uint32_t n_reads;                     /* number of reads from the device so far */
    char text[FAT32_TEXT_BYTES];          /* memory for `why` */
    uint16_t long_name[FAT32_NAME_UNITS]; /* long name of the directory entry being read */
    _Alignas(64) uint8_t buffer[FAT32_BUFFER_SECTORS * SECTOR_BYTES];
};

struct fat32_entry {
    char name[FAT32_NAME_BYTES]; /* the long name or, without one, the short name, in
                                  * UTF-8 */
    char short_name[13];         /* "MODEL~1.ING"; "" on exFAT */
    bool is_directory;
    bool read_only;   /* read-only attribute; the file is neither written nor replaced */
    bool contiguous;  /* exFAT: the file is contiguous and has no chain in the FAT */
    bool unwritten;   /* exFAT: part of the file was never written */
    uint32_t cluster; /* first cluster, 0 for an empty file */
    uint64_t bytes;
};

/* A position in a directory. */
struct fat32_directory {
    struct fat32 *fs;
    uint32_t cluster;
    uint32_t index;     /* index of the next 32-byte entry in the cluster */
    uint64_t n_entries; /* entries read so far, to detect a chain without an end */
    uint64_t left;      /* exFAT: clusters after this one, if contiguous */
    bool contiguous;
    bool ended;
    bool damaged; /* exFAT: a damaged entry was seen */
};

/* Mount a device's first FAT32 or exFAT volume that has a folder "models", or else its first such
 * volume. A volume is a partition of a GPT or a primary MBR partition, both of any type, or it
 * begins at sector 0. A volume ends with its partition, even if it says that it is longer. timeout
 * may be NULL. fs must not move (fs->why may point into it). ERR_NO_FILESYSTEM: there is no volume.
 * ERR_BAD_FILESYSTEM: damaged. ERR_UNSUPPORTED: NTFS, FAT16, sectors outside 512 to 4096 bytes.
 * ERR_IO, ERR_TIMEOUT: the device. */
enum err fat32_mount(struct fat32 *fs, struct block_device *device,
                     const struct file_timeout *timeout);

/* Start listing the directory at path ("", "/", "models", "a/b"); case-insensitive. */
enum err fat32_open_directory(struct fat32 *fs, const char *path, struct fat32_directory *out);

/* Read the next entry. Deleted entries, labels, "." and ".." are skipped. ERR_NOT_FOUND: there are
 * no more entries. */
enum err fat32_next_entry(struct fat32_directory *dir, struct fat32_entry *out);

/* Find the file or directory at path from the root, case-insensitive. ERR_NOT_FOUND. */
enum err fat32_find(struct fat32 *fs, const char *path, struct fat32_entry *out);

/* Count the files models/<name>.ingot (without macOS's "._name"). Without a folder "models", the
 * count is 0. */
enum err fat32_count_models(struct fat32 *fs, unsigned *out);

/* Find the first <name>.ingot of a folder after a name, in sorted order; "" finds the first of all.
 * ERR_NOT_FOUND: there are no more models. */
enum err fat32_image_after(struct fat32 *fs, const char *folder, const char *after,
                           struct fat32_entry *out);

/* Compare names as strcmp does. Case counts only if the names differ in nothing else. */
int fat32_compare_names(const char *a, const char *b);

/* Find a model by its name in models/, with or without ".ingot" and ignoring case, or by a path
 * with a '/'. ERR_NOT_FOUND: fs->why says which path was looked up. */
enum err fat32_find_model(struct fat32 *fs, const char *name, struct fat32_entry *out);

/* Write a file's extents to the table, or, if table is NULL, to *out, which has room for
 * FILE_FEW_EXTENTS. A chain longer than the file (reserved space) is allowed.
 * ERR_BAD_FILESYSTEM: its chain is too short for its size, cyclic, or leaves the volume; or a part
 * of an exFAT file was never written. ERR_TOO_FRAGMENTED: the table is too small. ERR_TRUNCATED:
 * the card is shorter than the volume says, and the file lies beyond its end. ERR_NOT_FOUND: it is
 * a directory. */
enum err fat32_open_file(struct fat32 *fs, const struct fat32_entry *entry,
                         const struct file_table *table, struct file *out);

#endif
