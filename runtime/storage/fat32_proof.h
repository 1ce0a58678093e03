/* Before anything is written to a volume, prove that everything to be written, renamed or freed
 * belongs to only one file. Every folder is walked once, and every chain of clusters is followed
 * once, up to a limit of reads. A file system with any damage is left as it is, because the
 * clusters of a damaged entry or chain cannot be told from free ones. If the limit ends the
 * walk, checking the file's own chain and the free clusters of the FAT must suffice, unless the
 * volume says that it was not unmounted. */
#ifndef INGOT_RUNTIME_FAT32_PROOF_H
#define INGOT_RUNTIME_FAT32_PROOF_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/storage/fat32.h"
#include "runtime/storage/file.h"

enum {
    FAT32_MOST_CLAIMS = 2,
    FAT32_MOST_DEPTH = 32, /* the most folders within each other */
};

/* The clusters of one chain. No other chain may have them. */
struct fat32_claim {
    const struct file_extent *extents; /* (n), of whole clusters */
    uint32_t n;
    uint32_t first;  /* the chain's first cluster */
    unsigned owners; /* number of entries with this chain so far; must be 1 at the end */
};

/* A walk over a volume. Its data are valid only during one call. */
struct fat32_proof {
    struct fat32 *fs;
    struct fat32_claim claims[FAT32_MOST_CLAIMS];
    unsigned n_claims;
    uint64_t clusters; /* clusters of all chains so far; if the volume has fewer, some are
                      * shared */
    uint64_t length;   /* length of the chain that was followed last */
    uint64_t visits;   /* number of folders' entries so far */
    uint32_t first_read, last_read; /* fs->n_reads when the walk begins, and the value that ends the
                                     * walk */
    bool is_dirty;                  /* the volume was in use when it was last removed */
    bool gave_up;
    bool is_strict; /* folders without "." and ".." count as damage */
    unsigned depth;
    struct fat32_directory stack[FAT32_MOST_DEPTH];
    uint32_t firsts[FAT32_MOST_DEPTH]; /* first clusters of the folders in `stack`; 0 for the root,
                                        * as in ".." entries */
    struct fat32_entry entry;
    struct fat32_entry old; /* entry of a file that will be replaced */
    struct file file;       /* the claimed file, then the exFAT bitmap */
    struct file folder;
};

/* Check whether a file that fat32_open_file resolved may be written in place. ERR_UNSUPPORTED: the
 * file is read-only. ERR_BAD_FILESYSTEM: the volume is damaged; fs->why names the damage and the
 * program that repairs it. Errors of the device. */
enum err fat32_prove_file(struct fat32_proof *p, struct fat32 *fs, const struct fat32_entry *entry,
                          const struct file *file);

/* Check whether folder/name may be made (fat32_write.h) or replaced. The table may be reused
 * afterwards. ERR_BAD_ARGUMENT: a folder has that name. ERR_UNSUPPORTED: the existing file is
 * read-only. ERR_TOO_FRAGMENTED: the existing file has too many pieces for the table. Other errors:
 * those of fat32_prove_file. */
enum err fat32_prove_new(struct fat32_proof *p, struct fat32 *fs, const char *folder,
                         const char *name, const struct file_table *table);

#endif
