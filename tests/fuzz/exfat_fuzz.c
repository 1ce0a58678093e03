/* The input is a disk with a GPT and exFAT, or exFAT alone (exfat_seed.py). It is read unchanged,
 * and again with its checksums made right, so that what they protect is reached as well. */
#include "runtime/storage/partitions.h"
#include "tests/fuzz/card.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DISK_BYTES = 256 * 1024 };

static uint8_t disk[DISK_BYTES];

static uint32_t get32(const uint8_t *p)
{
    uint32_t value;

    memcpy(&value, p, sizeof value);
    return value;
}

static void put32(uint8_t *p, uint32_t value)
{
    memcpy(p, &value, sizeof value);
}

/* A header in the second sector, with its table after it. */
static void sign_gpt(size_t size)
{
    uint8_t *h = disk + SECTOR_BYTES;
    uint64_t bytes, at;

    if (size < 2 * SECTOR_BYTES || memcmp(h, "EFI PART", 8) != 0)
        return;
    at = (uint64_t)get32(h + 72) * SECTOR_BYTES;
    bytes = (uint64_t)get32(h + 80) * get32(h + 84);
    if (at < size && bytes <= size - at)
        put32(h + 88, partitions_crc32(0, disk + at, (uint32_t)bytes));
    put32(h + 12, 92);
    put32(h + 16, 0);
    put32(h + 16, partitions_crc32(0, h, 92));
}

static void sign_boot(uint8_t *region, size_t left)
{
    unsigned shift = region[108];
    size_t bytes = (size_t)11 << shift % 32;
    uint32_t sum = 0;

    if (shift < 9 || shift > 12 || left < bytes + SECTOR_BYTES)
        return;
    for (size_t i = 0; i < bytes; i++) {
        if (i != 106 && i != 107 && i != 112)
            sum = (sum << 31 | sum >> 1) + region[i];
    }
    for (size_t i = 0; i < SECTOR_BYTES; i += 4)
        put32(region + bytes + i, sum);
}

static void sign_set(uint8_t *set, size_t left)
{
    size_t bytes = 32u * (set[1] + 1u);
    uint16_t sum = 0;

    for (size_t i = 0; i < bytes && bytes <= left; i++) {
        if (i != 2 && i != 3)
            sum = (uint16_t)((sum << 15 | sum >> 1) + set[i]);
    }
    set[2] = (uint8_t)sum;
    set[3] = (uint8_t)(sum >> 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > sizeof disk)
        size = sizeof disk;
    read_card(data, size, false);
    if (size > 0)
        memcpy(disk, data, size);
    sign_gpt(size);
    for (size_t at = 0; at + SECTOR_BYTES <= size; at += SECTOR_BYTES) {
        if (memcmp(disk + at + 3, "EXFAT   ", 8) == 0)
            sign_boot(disk + at, size - at);
    }
    for (size_t at = 0; at + 32 <= size; at += 32) {
        if (disk[at] == 0x85)
            sign_set(disk + at, size - at);
    }
    read_card(disk, size, false);
    return 0;
}
