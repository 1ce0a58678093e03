/* Finds where the volumes of a device start: the four entries of an MBR, or a GPT (UEFI
 * Specification 2.10, section 5.3). Uses the buffer of the file system that looks for its
 * volume. */
#ifndef INGOT_RUNTIME_PARTITIONS_H
#define INGOT_RUNTIME_PARTITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"

struct fat32;

enum { PARTITIONS_MOST = 16 }; /* partitions that are considered: the first ones */

struct partition {
    uint64_t sector; /* its first, on the device; 0: beyond the device's end */
    uint64_t end;    /* the sector after its last; a partition that begins earlier ends it */
    bool is_fat32;   /* the table says so; otherwise its boot sector decides */
    bool has_length; /* otherwise the table gives it no sectors: it extends to the next one */
    bool is_guess;   /* in the blocks of another disk */
};

struct partitions {
    struct partition list[PARTITIONS_MOST];
    unsigned n;
    unsigned n_all;   /* in a GPT: with those that have no room in the list */
    uint8_t types[4]; /* (n_types) of the MBR's entries, for messages */
    unsigned n_types;
};

/* List the partitions that may hold a volume: those of every type, because the boot sector
 * decides; types of FAT32, exFAT and NTFS go first. If an MBR has an entry for a GPT, the GPT is
 * read: its header, or the copy at the device's end if the header is damaged. LBAs count in the
 * device's blocks, or, if that finds nothing, in those of a disk from which the table was
 * copied. If two tables differ about a partition, the shorter length counts. ERR_BAD_FILESYSTEM:
 * both copies of the GPT are damaged. ERR_IO, ERR_TIMEOUT: neither can be read. fs->why says what
 * is wrong. */
enum err partitions_find(struct fat32 *fs, struct partitions *out);

/* CRC-32 of the GPT (IEEE 802.3, reflected): of the bytes so far, 0 at the start, and data. */
uint32_t partitions_crc32(uint32_t crc, const uint8_t *data, uint32_t bytes);

#endif
