/* FAT32, and exFAT through exfat.h, read only, without allocation: find models on a card and
 * resolve them to extents. Source: Microsoft Extensible Firmware Initiative FAT32 File System
 * Specification 1.03. */
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
    FAT32_BUFFER_SECTORS = 32, /* sectors of the FAT that are read at once: 4096 clusters */
};

struct fat32 {
    const char *why;       /* after an error: what is wrong, as one sentence; otherwise NULL */
    uint64_t first_sector; /* sectors of the volume, as it states */
    uint64_t n_sectors;    /* sectors that the volume says it has */
    uint64_t end_sector;   /* end of the partition or of the device: nothing is read or written from
                     * this sector on */
    const char *sealed;    /* why files can only be read, not made; NULL: they can be made */
    uint64_t fat_sector;   /* sector of the FAT in use */
    uint64_t data_sector;  /* sector of cluster 2 */
    uint64_t fat_sectors;  /* sectors of one FAT */
    uint32_t n_mirrors;    /* FAT32: number of FATs after the one in use that are kept equal */
    uint64_t info_sector;  /* sector of FSInfo; 0: none */
    uint64_t copy_sector;  /* FAT32: sector of the boot sector's copy; 0: none */
    uint32_t n_clusters;   /* valid clusters are 2 .. n_clusters + 1 */
    uint32_t cluster_sectors;
    uint32_t root_cluster;
    uint32_t entry_mask; /* the significant bits of a FAT entry */
    uint32_t chain_end;  /* an entry of at least this value ends a chain */
    bool is_exfat;
    unsigned active_fat; /* exFAT: the FAT and bitmap in use, 0 or 1 */
    struct file device;  /* the whole device, for reading its sectors */
    struct file_read read;
    uint64_t buffer_sector;               /* first sector that buffer holds */
    uint32_t buffer_sectors;              /* sectors that buffer holds; 0: none */
    uint32_t n_reads;                     /* reads from the device so far */
    char text[FAT32_TEXT_BYTES];          /* memory for a `why` that is composed */
    uint16_t long_name[FAT32_NAME_UNITS]; /* long name of the directory entry being read */
    _Alignas(64) uint8_t buffer[FAT32_BUFFER_SECTORS * SECTOR_BYTES];
};

struct fat32_entry {
    char name[FAT32_NAME_BYTES]; /* the long name if there is one, otherwise the short name;
                                  * UTF-8 */
    char short_name[13];         /* "MODEL~1.ING"; "" on exFAT */
    bool is_directory;
    bool read_only;   /* the read-only attribute: the file is neither written nor replaced */
    bool contiguous;  /* exFAT: the file is contiguous, and the FAT has no chain for it */
    bool unwritten;   /* exFAT: space was reserved that was never written */
    uint32_t cluster; /* first cluster, 0 for an empty file */
    uint64_t bytes;
};

/* A position in a directory. */
struct fat32_directory {
    struct fat32 *fs;
    uint32_t cluster;
    uint32_t index;     /* index of the next 32-byte entry in the cluster */
    uint64_t n_entries; /* clusters seen so far, to detect a chain without an end */
    uint64_t left;      /* exFAT, contiguous: number of clusters after this one */
    bool contiguous;
    bool ended;
    bool damaged; /* exFAT: damaged entries were seen so far */
};

/* Mount the first FAT32 or exFAT volume of a device that has a folder "models", or else the first
 * such volume: a partition of its GPT, a primary MBR partition of any type, or a volume that
 * starts at sector 0. A volume ends with its partition, even if it says that it is longer. timeout
 * may be NULL. fs and fs->why must stay. ERR_NO_FILESYSTEM: there is none. ERR_BAD_FILESYSTEM:
 * damaged. ERR_UNSUPPORTED: NTFS, FAT16, sectors outside 512 to 4096 bytes. ERR_IO, ERR_TIMEOUT:
 * the device. */
enum err fat32_mount(struct fat32 *fs, struct block_device *device,
                     const struct file_timeout *timeout);

/* Start listing the directory at path ("", "/", "models", "a/b"); case-insensitive. */
enum err fat32_open_directory(struct fat32 *fs, const char *path, struct fat32_directory *out);

/* Read the next entry; skips deleted entries, labels, "." and "..". ERR_NOT_FOUND: there are no
 * more. */
enum err fat32_next_entry(struct fat32_directory *dir, struct fat32_entry *out);

/* Find the file or directory at path from the root, case-insensitive. ERR_NOT_FOUND. */
enum err fat32_find(struct fat32 *fs, const char *path, struct fat32_entry *out);

/* Count the files models/<name>.ingot (without macOS's "._name"). Without a folder "models", the
 * count is 0. */
enum err fat32_count_models(struct fat32 *fs, unsigned *out);

/* Find the first <name>.ingot of a folder after a name, in sorted order; "" finds the first of all.
 * ERR_NOT_FOUND: there are no more. */
enum err fat32_image_after(struct fat32 *fs, const char *folder, const char *after,
                           struct fat32_entry *out);

/* Compare names as strcmp, but ignoring case unless they differ only in case. */
int fat32_compare_names(const char *a, const char *b);

/* Find model number `index` in sorted order. ERR_NOT_FOUND: there are fewer models. */
enum err fat32_get_model(struct fat32 *fs, unsigned index, struct fat32_entry *out);

/* Find a model by its name in models/, with or without ".ingot", case-insensitive, or by a path
 * with a '/'. ERR_NOT_FOUND: fs->why says which path was looked up. */
enum err fat32_find_model(struct fat32 *fs, const char *name, struct fat32_entry *out);

/* Write a file's extents to the table, or, if table is NULL, to *out, which has room for
 * FILE_FEW_EXTENTS. A chain longer than the file (reserved space) is allowed.
 * ERR_BAD_FILESYSTEM: its chain is too short for its size, cyclic, or leaves the volume; or exFAT
 * reserved space for it that was never written. ERR_TOO_FRAGMENTED: the table is too small.
 * ERR_TRUNCATED: the card is shorter than the volume says, and the file lies beyond its end.
 * ERR_NOT_FOUND: a directory. */
enum err fat32_open_file(struct fat32 *fs, const struct fat32_entry *entry,
                         const struct file_table *table, struct file *out);

#endif
