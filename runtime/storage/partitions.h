/* Finds where the volumes of a device start, from a GPT (UEFI Specification 2.10, section 5.3) or
 * from the four entries of an MBR. Uses the buffer of the struct fat32 that is being mounted. */
#ifndef INGOT_RUNTIME_PARTITIONS_H
#define INGOT_RUNTIME_PARTITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"

struct fat32;

enum { PARTITIONS_MOST = 16 }; /* the most partitions that are considered */

struct partition {
    uint64_t sector; /* first sector on the device, or 0 if it is beyond the device's end */
    uint64_t end;    /* sector after the last; the partition also ends where another
                      * begins */
    bool is_fat32;   /* the table says FAT32; otherwise the boot sector decides */
    bool has_length; /* the table has a length; otherwise the next partition ends this one */
    bool is_guess;   /* the place was computed with the block size of another disk */
};

struct partitions {
    struct partition list[PARTITIONS_MOST];
    unsigned n;
    unsigned n_all;   /* number of all partitions in a GPT, also those beyond the list */
    uint8_t types[4]; /* (n_types) types of the MBR's entries, for messages */
    unsigned n_types;
};

/* List the partitions that may hold a volume. All types are listed, because the boot sector
 * decides; types of FAT32, exFAT and NTFS come first, and logical partitions last. If an MBR has an
 * entry for a GPT, the GPT is read or, if its header is damaged, the copy at the device's end. LBAs
 * count the device's blocks or, if that finds nothing, blocks of the disk from which the table may
 * have been copied. If two tables differ about a partition, the shorter length is used.
 * ERR_BAD_FILESYSTEM: both copies of the GPT are damaged. ERR_IO, ERR_TIMEOUT: neither copy can be
 * read. fs->why says what is wrong. */
enum err partitions_find(struct fat32 *fs, struct partitions *out);

/* Return the GPT's CRC-32 (IEEE 802.3, reflected), continued over data. crc begins with 0. */
uint32_t partitions_crc32(uint32_t crc, const uint8_t *data, uint32_t bytes);

#endif
