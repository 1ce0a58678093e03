/* The start of the volumes of a device: the four entries of an MBR, or a GPT (UEFI Specification
 * 2.10, section 5.3). Read with the buffer of the file system that looks for its volume. */
#ifndef INGOT_RUNTIME_PARTITIONS_H
#define INGOT_RUNTIME_PARTITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"

struct fat32;

enum { PARTITIONS_MOST = 16 }; /* that are looked at: the first ones */

struct partition {
    uint64_t sector; /* its first, on the device; 0: beyond the device's end */
    uint64_t end;    /* the sector after its last; a partition that begins before that ends it */
    bool is_fat32;   /* the table says so; else its boot sector decides */
    bool has_length; /* else the table gives it no sectors: it goes on to the next one */
    bool is_guess;   /* in the blocks of another disk */
};

struct partitions {
    struct partition list[PARTITIONS_MOST];
    unsigned n;
    uint8_t types[4]; /* (n_types) of the MBR's entries, for messages */
    unsigned n_types;
};

/* List the partitions that may hold a volume: those of every type, because the boot sector
 * decides; types of FAT32, exFAT and NTFS go first. An MBR with an entry for a GPT counts as
 * one, and then the GPT is read: its header, or the copy at the device's end where the header is
 * damaged. LBAs count in the device's blocks, or, where that leads nowhere, in those of a disk
 * that the table was copied from. If two tables differ about a partition, the shorter length
 * counts. ERR_BAD_FILESYSTEM: both copies of the GPT are damaged. ERR_IO, ERR_TIMEOUT: neither
 * can be read. fs->why says what is wrong. */
enum err partitions_find(struct fat32 *fs, struct partitions *out);

/* CRC-32 of the GPT (IEEE 802.3, reflected): of the bytes so far, 0 at the start, and data. */
uint32_t partitions_crc32(uint32_t crc, const uint8_t *data, uint32_t bytes);

#endif
