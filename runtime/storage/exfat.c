/* The boot region (section 3 of the specification). */
#include "runtime/storage/exfat.h"

#include <string.h>

#include "runtime/storage/fat32.h"
#include "runtime/storage/fat32_volume.h"

enum { /* byte offsets in the boot sector */
       FILE_SYSTEM_NAME = 3,
       MUST_BE_ZERO = 11,
       MUST_BE_ZERO_END = 64,
       VOLUME_LENGTH = 72,
       FAT_OFFSET = 80,
       FAT_LENGTH = 84,
       CLUSTER_HEAP_OFFSET = 88,
       CLUSTER_COUNT = 92,
       ROOT_CLUSTER = 96,
       REVISION = 104,
       VOLUME_FLAGS = 106, /* bit 0 says that the second FAT is in use */
       SECTOR_SHIFT = 108,
       CLUSTER_SHIFT = 109,
       N_FATS = 110,
       PERCENT_IN_USE = 112,
       BOOT_SIGNATURE = 510,
};

enum {
    SHIFT_512 = 9,
    SHIFT_4096 = 12,
    SHIFT_CLUSTER = 25,  /* the largest cluster has 2^25 bytes, 32 MiB */
    REGION_CHECKED = 11, /* sectors that the checksum covers; the next sector holds it */
    REGION_SECTORS = 12, /* sectors of the region; the region's copy follows */
};
static const uint32_t COUNT_MAX = 0xfffffff5;    /* clusters */
static const uint64_t MOST_SECTORS = 1ull << 57; /* the most sectors of a volume, in units of 512
                                                  * bytes */

bool exfat_is_boot_sector(const uint8_t *boot)
{
    return memcmp(boot + FILE_SYSTEM_NAME, "EXFAT   ", 8) == 0;
}

static enum err bad(struct fat32 *fs, const char *why)
{
    return fat32_fail(fs, ERR_BAD_FILESYSTEM, why);
}

/* Return true if a byte counts for the checksum; fields that change while the volume is in use do
 * not. */
static bool is_checked(uint32_t at)
{
    return at != VOLUME_FLAGS && at != VOLUME_FLAGS + 1 && at != PERCENT_IN_USE;
}

static uint32_t add_bytes(uint32_t sum, const uint8_t *data, bool is_first)
{
    for (uint32_t i = 0; i < SECTOR_BYTES; i++) {
        if (!is_first || is_checked(i))
            sum = (sum << 31 | sum >> 1) + data[i];
    }
    return sum;
}

/* Check the region's checksum, for sectors of 2^shift bytes. */
static enum err check_region(struct fat32 *fs, uint64_t region, unsigned shift)
{
    uint64_t n = (uint64_t)REGION_CHECKED << (shift - SHIFT_512);
    const uint8_t *at;
    uint32_t sum = 0;
    enum err e = ERR_OK;

    for (uint64_t i = 0; i <= n && e == ERR_OK; i++) {
        e = fat32_fetch_sector(fs, region + i, &at);
        if (e == ERR_OK && i < n)
            sum = add_bytes(sum, at, i == 0);
    }
    if (e != ERR_OK)
        return e;
    for (unsigned i = 0; i < SECTOR_BYTES; i += 4) {
        if (fat32_u32(at + i) != sum)
            return bad(fs, "exFAT: the checksum of the boot sectors is wrong: repair it by "
                           "fsck.exfat, or format the disk");
    }
    return ERR_OK;
}

static enum err check_fields(struct fat32 *fs, const uint8_t *boot)
{
    uint8_t any = 0;

    for (unsigned i = MUST_BE_ZERO; i < MUST_BE_ZERO_END; i++)
        any |= boot[i];
    if (boot[BOOT_SIGNATURE] != 0x55 || boot[BOOT_SIGNATURE + 1] != 0xaa)
        return bad(fs, "exFAT: the boot sector has no signature");
    if (any != 0)
        return bad(fs, "exFAT: MustBeZero is not zero");
    if (fat32_u16(boot + REVISION) >> 8 != 1)
        return fat32_fail(fs, ERR_UNSUPPORTED,
                          "exFAT: FileSystemRevision is not 1: format the disk");
    if (boot[CLUSTER_SHIFT] > SHIFT_CLUSTER - boot[SECTOR_SHIFT])
        return bad(fs, "exFAT: SectorsPerClusterShift is out of bounds");
    if (boot[N_FATS] != 1 && boot[N_FATS] != 2)
        return bad(fs, "exFAT: NumberOfFats is not 1 or 2");
    return ERR_OK;
}

/* Compute where the FAT and the clusters are, in sectors of 512 bytes. Sums of 32-bit fields fit in
 * 64 bits. */
static enum err lay_out(struct fat32 *fs, const uint8_t *boot, uint64_t volume)
{
    unsigned more = boot[SECTOR_SHIFT] - (unsigned)SHIFT_512;
    uint64_t fat = fat32_u32(boot + FAT_OFFSET), length = fat32_u32(boot + FAT_LENGTH);
    uint64_t heap = fat32_u32(boot + CLUSTER_HEAP_OFFSET);
    uint64_t count = fat32_u32(boot + CLUSTER_COUNT);
    unsigned active = boot[N_FATS] == 2 ? boot[VOLUME_FLAGS] & 1 : 0;

    if (fat < 2 * REGION_SECTORS || length == 0 || fat + length * boot[N_FATS] > heap)
        return bad(fs, "exFAT: FatOffset, FatLength and ClusterHeapOffset overlap");
    if (fat32_u64(boot + VOLUME_LENGTH) > MOST_SECTORS)
        return bad(fs, "exFAT: VolumeLength is out of bounds");
    if (count == 0 || count > COUNT_MAX ||
        heap + (count << boot[CLUSTER_SHIFT]) > fat32_u64(boot + VOLUME_LENGTH))
        return bad(fs, "exFAT: ClusterCount is out of bounds");
    if (count + 2 > length << (boot[SECTOR_SHIFT] - 2))
        return bad(fs, "exFAT: FatLength is too small for ClusterCount");
    fs->is_exfat = true;
    fs->n_sectors = fat32_u64(boot + VOLUME_LENGTH) << more;
    fs->entry_mask = fs->chain_end = UINT32_MAX;
    fs->first_sector = volume;
    fs->active_fat = active;
    fs->fat_sector = volume + ((fat + active * length) << more);
    fs->data_sector = volume + (heap << more);
    fs->n_clusters = (uint32_t)count;
    fs->cluster_sectors = 1u << (boot[CLUSTER_SHIFT] + more);
    fs->root_cluster = fat32_u32(boot + ROOT_CLUSTER);
    if (!fat32_is_cluster(fs, fs->root_cluster))
        return bad(fs, "exFAT: FirstClusterOfRootDirectory is outside the volume");
    return ERR_OK;
}

/* Open the volume by its boot region or the region's copy. */
static enum err mount_region(struct fat32 *fs, uint64_t volume, uint64_t region, unsigned shift)
{
    uint8_t boot[SECTOR_BYTES];
    const uint8_t *at;
    enum err e = fat32_fetch_sector(fs, region, &at);

    if (e != ERR_OK)
        return e;
    memcpy(boot, at, sizeof boot); /* the buffer will be reused */
    if (shift == 0)
        shift = boot[SECTOR_SHIFT];
    if (shift < SHIFT_512 || shift > SHIFT_4096 || boot[SECTOR_SHIFT] != shift)
        return bad(fs, "exFAT: BytesPerSectorShift is not 9 to 12");
    e = check_region(fs, region, shift);
    if (e == ERR_OK)
        e = check_fields(fs, boot);
    if (e == ERR_OK)
        e = lay_out(fs, boot, volume);
    return e;
}

enum err exfat_mount(struct fat32 *fs, uint64_t sector)
{
    enum err first = mount_region(fs, sector, sector, 0);
    const char *why = fs->why;

    if (first == ERR_OK)
        return ERR_OK;
    /* The size of the volume's sectors is stated only in the damaged region, so try all possible
     * sizes. */
    for (unsigned shift = SHIFT_512; shift <= SHIFT_4096; shift++) {
        uint64_t copy = sector + ((uint64_t)REGION_SECTORS << (shift - SHIFT_512));

        if (mount_region(fs, sector, copy, shift) == ERR_OK)
            return ERR_OK;
    }
    return fat32_fail(fs, first, why);
}
