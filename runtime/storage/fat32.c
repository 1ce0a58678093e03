/* The volume, its FAT and cluster chains. Section names are those of Microsoft's FAT32 File System
 * Specification 1.03; fields have the names of the specification. */
#include "runtime/storage/fat32.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/storage/fat32_volume.h"

enum { /* byte offsets in the boot sector and its BPB */
       BS_JUMP = 0,
       BS_OEM_NAME = 3,
       BPB_BYTES_PER_SEC = 11,
       BPB_SEC_PER_CLUS = 13,
       BPB_RSVD_SEC_CNT = 14,
       BPB_NUM_FATS = 16,
       BPB_ROOT_ENT_CNT = 17,
       BPB_TOT_SEC16 = 19,
       BPB_MEDIA = 21,
       BPB_FAT_SZ16 = 22,
       BPB_TOT_SEC32 = 32,
       BPB_FAT_SZ32 = 36,
       BPB_EXT_FLAGS = 40,
       BPB_FS_VER = 42,
       BPB_ROOT_CLUS = 44,
       BPB_FS_INFO = 48,
       BPB_BK_BOOT_SEC = 50,
       BS_SIGNATURE = 510,
};

enum {
    CLUSTER_MASK = 0x0fffffff, /* the upper four bits of an entry are reserved */
    CLUSTER_END = 0x0ffffff8,  /* entries from this value on end a chain */
    CLUSTER_MAX = 0x0ffffff5,  /* the most clusters of a volume */
    MOST_SECTOR_BYTES = 4096,
};

enum err fat32_fail(struct fat32 *fs, enum err e, const char *why)
{
    fs->why = why;
    return e;
}

static enum err fat32_read_sectors(struct fat32 *fs, uint64_t sector, uint64_t n)
{
    enum err e;

    fs->buffer_sectors = 0;
    fs->n_reads++;
    e = file_read_now(&fs->read, &fs->device, sector * SECTOR_BYTES, fs->buffer,
                      (size_t)n * SECTOR_BYTES);
    if (e != ERR_OK)
        return fat32_fail(fs, e, "the card cannot be read");
    fs->buffer_sector = sector;
    fs->buffer_sectors = (uint32_t)n;
    return ERR_OK;
}

static const char longer[] =
    "the file system is longer than its partition, so that no file can be made: copy its files to a "
    "computer and format the partition anew";
static const char cut[] =
    "the card ends before its file system does, so that no file can be made: write the card again";

/* Report a file that lies beyond the device's end. */
static enum err fat32_ends(struct fat32 *fs)
{
    return fat32_fail(fs, ERR_TRUNCATED,
                      fs->end_sector == fs->device.device->n_sectors
                          ? "the card ends before the file does: write the card again"
                          : "the partition ends before the file does: format it anew");
}

void fat32_seal(struct fat32 *fs, bool has_length)
{
    /* If the partition has a length, the volume must end within it. */
    if (fs->first_sector + fs->n_sectors <= fs->end_sector)
        fs->sealed = has_length ? NULL
                                : "the partition table gives its partition no length, so that no "
                                  "file can be made: partition the card anew";
    else
        fs->sealed = fs->end_sector == fs->device.device->n_sectors ? cut : longer;
}

enum err fat32_fetch_sector(struct fat32 *fs, uint64_t sector, const uint8_t **out)
{
    uint64_t end = fs->end_sector;
    uint64_t first = sector / FAT32_BUFFER_SECTORS * FAT32_BUFFER_SECTORS;
    uint64_t n = min_u64(end - first, FAT32_BUFFER_SECTORS);
    enum err e = ERR_OK;

    if (sector >= end)
        return fat32_fail(fs, ERR_TRUNCATED,
                          end == fs->device.device->n_sectors
                              ? "the card ends before its file system does: write the card again"
                              : "the partition ends before its file system does: format it anew");
    /* Also read the neighbouring sectors, because they are often needed next. */
    if (sector < fs->buffer_sector || sector - fs->buffer_sector >= fs->buffer_sectors) {
        e = fat32_read_sectors(fs, first, n);
        if (e != ERR_OK && e != ERR_TIMEOUT) /* a bad neighbouring sector must not hide a good
                                              * one */
            e = fat32_read_sectors(fs, sector, 1);
    }
    if (e != ERR_OK)
        return e;
    *out = fs->buffer + (sector - fs->buffer_sector) * SECTOR_BYTES;
    return ERR_OK;
}

bool fat32_is_cluster(const struct fat32 *fs, uint32_t cluster)
{
    return cluster >= 2 && cluster - 2 < fs->n_clusters;
}

uint64_t fat32_cluster_sector(const struct fat32 *fs, uint32_t cluster)
{
    return fs->data_sector + (uint64_t)(cluster - 2) * fs->cluster_sectors;
}

enum err fat32_next_cluster(struct fat32 *fs, uint32_t cluster, uint32_t *next)
{
    const uint8_t *sector;
    enum err e;

    if (!fat32_is_cluster(fs, cluster))
        return fat32_fail(fs, ERR_BAD_FILESYSTEM, "a cluster chain leaves the volume");
    e = fat32_fetch_sector(fs, fs->fat_sector + cluster / FAT32_SECTOR_CLUSTERS, &sector);
    if (e != ERR_OK)
        return e;
    *next = fat32_u32(sector + cluster % FAT32_SECTOR_CLUSTERS * 4) & fs->entry_mask;
    /* The entry must be an end mark or name a cluster. Anything else is damage. */
    if (*next >= fs->chain_end)
        *next = 0;
    else if (!fat32_is_cluster(fs, *next))
        return fat32_fail(fs, ERR_BAD_FILESYSTEM,
                          "a cluster chain runs into a free or bad cluster, or leaves the volume");
    return ERR_OK;
}

/* ---- mounting ------------------------------------------------------------------------------ */

static bool is_power_of_two(uint32_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

/* Tell a boot sector of any FAT from a partition table, which also ends in 55 AA. */
bool fat32_is_boot_sector(const uint8_t *boot)
{
    uint32_t bytes_per_sector = fat32_u16(boot + BPB_BYTES_PER_SEC);

    return (boot[BS_JUMP] == 0xeb || boot[BS_JUMP] == 0xe9) && is_power_of_two(bytes_per_sector) &&
           bytes_per_sector >= 128 && is_power_of_two(boot[BPB_SEC_PER_CLUS]) &&
           boot[BPB_MEDIA] >= 0xf0;
}

/* Check the fields that decide whether this is a readable FAT32 volume. */
static enum err fat32_check_kind(struct fat32 *fs, const uint8_t *boot)
{
    uint32_t bytes = fat32_u16(boot + BPB_BYTES_PER_SEC);

    /* Check for NTFS first, because in its boot sector the other fields mean something else. */
    if (memcmp(boot + BS_OEM_NAME, "NTFS    ", 8) == 0)
        return fat32_fail(fs, ERR_UNSUPPORTED, "the card is NTFS: format it as FAT32 or exFAT");
    if (boot[BS_SIGNATURE] != 0x55 || boot[BS_SIGNATURE + 1] != 0xaa)
        return fat32_fail(fs, ERR_BAD_FILESYSTEM, "FAT32: the boot sector has no signature");
    if (boot[BS_JUMP] != 0xeb && boot[BS_JUMP] != 0xe9)
        return fat32_fail(fs, ERR_BAD_FILESYSTEM, "FAT32: BS_jmpBoot is not a jump");
    if (bytes < SECTOR_BYTES || bytes > MOST_SECTOR_BYTES || !is_power_of_two(bytes))
        return fat32_fail(fs, ERR_UNSUPPORTED,
                          "FAT32: BPB_BytsPerSec is not 512 to 4096: format the card anew");
    if (fat32_u16(boot + BPB_FAT_SZ16) != 0 || fat32_u16(boot + BPB_ROOT_ENT_CNT) != 0)
        return fat32_fail(fs, ERR_UNSUPPORTED, "the card is FAT12 or FAT16: format it as FAT32");
    return ERR_OK;
}

/* Return the volume's sectors, or 0 if the fields contradict each other. mkfs.fat puts a number
 * below 65,536 into the field of FAT16, and the other systems read it there. */
static uint32_t fat32_total_sectors(const uint8_t *boot)
{
    uint32_t small = fat32_u16(boot + BPB_TOT_SEC16), large = fat32_u32(boot + BPB_TOT_SEC32);

    if (small != 0 && large != 0 && small != large)
        return 0;
    return small != 0 ? small : large;
}

static enum err fat32_check_fields(struct fat32 *fs, const uint8_t *boot)
{
    const char *why = NULL;

    if (!is_power_of_two(boot[BPB_SEC_PER_CLUS]))
        why = "FAT32: BPB_SecPerClus is not a power of two";
    else if (fat32_u16(boot + BPB_RSVD_SEC_CNT) == 0)
        why = "FAT32: BPB_RsvdSecCnt is zero";
    else if (boot[BPB_NUM_FATS] == 0 || boot[BPB_NUM_FATS] > 4)
        why = "FAT32: BPB_NumFATs is not 1 to 4";
    else if (boot[BPB_MEDIA] != 0xf0 && boot[BPB_MEDIA] < 0xf8)
        why = "FAT32: BPB_Media is not a media descriptor";
    else if (fat32_total_sectors(boot) == 0)
        why = "FAT32: BPB_TotSec16 and BPB_TotSec32 do not give one size";
    else if (fat32_u32(boot + BPB_FAT_SZ32) == 0)
        why = "FAT32: BPB_FATSz32 is zero";
    else if (fat32_u16(boot + BPB_FS_VER) != 0)
        why = "FAT32: BPB_FSVer is not 0.0";
    if (why != NULL)
        return fat32_fail(fs, ERR_BAD_FILESYSTEM, why);
    return ERR_OK;
}

/* Return the device's sector that a field names, or 0 if it is not before the FATs. */
static uint64_t fat32_reserved_sector(const struct fat32 *fs, const uint8_t *boot, unsigned field)
{
    uint32_t scale = fat32_u16(boot + BPB_BYTES_PER_SEC) / SECTOR_BYTES;
    uint32_t sector = fat32_u16(boot + field);

    if (sector == 0 || sector >= fat32_u16(boot + BPB_RSVD_SEC_CNT))
        return 0;
    return fs->first_sector + sector * (uint64_t)scale;
}

/* Compute where the FAT and the clusters are, in units of 512 bytes; a sector may be larger. Every
 * sum fits in 64 bits, because fields have at most 32. */
static enum err fat32_lay_out(struct fat32 *fs, const uint8_t *boot)
{
    uint32_t flags = fat32_u16(boot + BPB_EXT_FLAGS);
    uint32_t active = flags & 0x80 ? flags & 0x0f : 0; /* bit 7 says that one FAT is in use, and the
                                                        * others are not mirrors */
    uint32_t scale = fat32_u16(boot + BPB_BYTES_PER_SEC) / SECTOR_BYTES;
    uint64_t reserved = (uint64_t)fat32_u16(boot + BPB_RSVD_SEC_CNT) * scale;
    uint64_t total = (uint64_t)fat32_total_sectors(boot) * scale;
    uint64_t fat_sectors = (uint64_t)fat32_u32(boot + BPB_FAT_SZ32) * scale;
    uint64_t meta = reserved + boot[BPB_NUM_FATS] * fat_sectors, clusters;

    fs->entry_mask = CLUSTER_MASK;
    fs->chain_end = CLUSTER_END;
    fs->cluster_sectors = boot[BPB_SEC_PER_CLUS] * scale;
    fs->root_cluster = fat32_u32(boot + BPB_ROOT_CLUS);
    if (active >= boot[BPB_NUM_FATS])
        return fat32_fail(fs, ERR_BAD_FILESYSTEM, "FAT32: BPB_ExtFlags names no FAT");
    if (meta >= total)
        return fat32_fail(fs, ERR_BAD_FILESYSTEM, "FAT32: BPB_FATSz32 leaves no room for data");
    /* "FAT Type Determination": only the count of clusters decides. */
    clusters = (total - meta) / fs->cluster_sectors;
    if (clusters == 0 || clusters > CLUSTER_MAX)
        return fat32_fail(fs, ERR_BAD_FILESYSTEM, "FAT32: BPB_TotSec32 is out of bounds");
    if (clusters + 2 > fat_sectors * FAT32_SECTOR_CLUSTERS)
        return fat32_fail(fs, ERR_BAD_FILESYSTEM, "FAT32: BPB_FATSz32 is too small for the volume");
    fs->n_clusters = (uint32_t)clusters;
    /* The volume has reserved sectors, the FATs, then the data. */
    fs->fat_sector = fs->first_sector + reserved + active * fat_sectors;
    fs->data_sector = fs->first_sector + meta;
    fs->fat_sectors = fat_sectors;
    fs->n_sectors = total;
    fs->n_mirrors = flags & 0x80 ? 0 : boot[BPB_NUM_FATS] - 1u;
    fs->info_sector = fat32_reserved_sector(fs, boot, BPB_FS_INFO);
    fs->copy_sector = fat32_reserved_sector(fs, boot, BPB_BK_BOOT_SEC);
    if (!fat32_is_cluster(fs, fs->root_cluster))
        return fat32_fail(fs, ERR_BAD_FILESYSTEM, "FAT32: BPB_RootClus is outside the volume");
    return ERR_OK;
}

enum err fat32_mount_fat(struct fat32 *fs, const uint8_t *boot)
{
    enum err e = fat32_check_kind(fs, boot);

    if (e == ERR_OK)
        e = fat32_check_fields(fs, boot);
    if (e == ERR_OK)
        e = fat32_lay_out(fs, boot);
    return e;
}

/* ---- files --------------------------------------------------------------------------------- */

/* A file whose extents are being found. Extents go to the file's own table or to the caller's
 * table. */
struct fat32_chain {
    struct file *file;
    struct file_extent *extents;
    uint32_t most;
};

/* Return true if a cluster was visited. A chain never leaves a cycle, so one check is enough, at
 * the file's end or when the table of extents is full. */
static bool fat32_is_visited(const struct fat32 *fs, const struct fat32_chain *chain,
                             uint32_t cluster)
{
    uint64_t sector = fat32_cluster_sector(fs, cluster);

    for (uint32_t i = 0; i < chain->file->n_extents; i++) {
        const struct file_extent *x = &chain->extents[i];

        if (sector >= x->sector && sector - x->sector < x->n_sectors)
            return true;
    }
    return false;
}

/* Add a cluster, which continues the previous extent or begins a new extent. */
static enum err fat32_add_sectors(struct fat32 *fs, struct fat32_chain *chain, uint32_t cluster)
{
    uint64_t sector = fat32_cluster_sector(fs, cluster);
    struct file *f = chain->file;

    /* Most clusters follow the cluster before. */
    if (f->n_extents > 0) {
        struct file_extent *last = &chain->extents[f->n_extents - 1];

        if (last->sector + last->n_sectors == sector) {
            last->n_sectors += fs->cluster_sectors;
            return ERR_OK;
        }
    }
    /* The table is full, because the chain is a cycle or has many pieces. */
    if (f->n_extents == chain->most && fat32_is_visited(fs, chain, cluster))
        return fat32_fail(fs, ERR_BAD_FILESYSTEM, "the cluster chain of the file is cyclic");
    if (f->n_extents == chain->most)
        return fat32_fail(fs, ERR_TOO_FRAGMENTED,
                          "the file is in too many pieces: copy it to a freshly formatted card");
    chain->extents[f->n_extents++] = (struct file_extent){ sector, fs->cluster_sectors };
    return ERR_OK;
}

static enum err fat32_add_cluster(struct fat32 *fs, struct fat32_chain *chain, uint32_t cluster)
{
    uint64_t end = fat32_cluster_sector(fs, cluster) + fs->cluster_sectors;
    enum err e = fat32_add_sectors(fs, chain, cluster);

    if (e != ERR_OK)
        return e;
    if (end > fs->end_sector)
        return fat32_ends(fs);
    return ERR_OK;
}

static enum err fat32_follow_chain(struct fat32 *fs, struct fat32_chain *chain, uint32_t cluster,
                                   uint64_t n_clusters)
{
    uint32_t next = cluster;
    enum err e;

    for (uint64_t i = 0; i < n_clusters; i++) {
        if (next == 0)
            return fat32_fail(fs, ERR_BAD_FILESYSTEM, "the cluster chain is shorter than the file");
        if (!fat32_is_cluster(fs, next))
            return fat32_fail(fs, ERR_BAD_FILESYSTEM, "the file starts outside the volume");
        e = fat32_add_cluster(fs, chain, next);
        if (e == ERR_OK)
            e = fat32_next_cluster(fs, next, &next);
        if (e != ERR_OK)
            return e;
    }
    /* The chain may be longer than the file, but not a cycle. */
    if (next != 0 && fat32_is_visited(fs, chain, next))
        return fat32_fail(fs, ERR_BAD_FILESYSTEM, "the cluster chain of the file is cyclic");
    return ERR_OK;
}

/* Take the contiguous clusters of an exFAT file without a chain. */
static enum err fat32_take_run(struct fat32 *fs, struct fat32_chain *chain, uint32_t cluster,
                               uint64_t n_clusters)
{
    struct file_extent run;

    if (!fat32_is_cluster(fs, cluster) || n_clusters > fs->n_clusters - (cluster - 2))
        return fat32_fail(fs, ERR_BAD_FILESYSTEM, "the file lies outside the volume");
    run.sector = fat32_cluster_sector(fs, cluster);
    run.n_sectors = n_clusters * fs->cluster_sectors;
    if (run.sector + run.n_sectors > fs->end_sector)
        return fat32_ends(fs);
    chain->extents[chain->file->n_extents++] = run;
    return ERR_OK;
}

enum err fat32_open_file(struct fat32 *fs, const struct fat32_entry *entry,
                         const struct file_table *table, struct file *out)
{
    uint64_t cluster_bytes = (uint64_t)fs->cluster_sectors * SECTOR_BYTES;
    uint64_t n_clusters = entry->bytes / cluster_bytes + (entry->bytes % cluster_bytes != 0);
    struct fat32_chain chain = { out, out->few, FILE_FEW_EXTENTS };
    enum err e;

    fs->why = NULL;
    memset(out, 0, sizeof *out);
    if (entry->is_directory)
        return fat32_fail(fs, ERR_NOT_FOUND, "this is a folder, not a file");
    if (n_clusters > fs->n_clusters)
        return fat32_fail(fs, ERR_BAD_FILESYSTEM, "the file is larger than the volume");
    if (entry->unwritten)
        return fat32_fail(fs, ERR_BAD_FILESYSTEM,
                          "the file was not written to its end: copy it to the card again");
    out->device = fs->device.device;
    out->timeout = fs->device.timeout;
    out->bytes = entry->bytes;
    file_set_name(out, entry->name);
    if (table != NULL) {
        out->table = chain.extents = table->extents;
        chain.most = table->most;
    }
    if (n_clusters == 0)
        return ERR_OK;
    if (entry->contiguous)
        e = fat32_take_run(fs, &chain, entry->cluster, n_clusters);
    else
        e = fat32_follow_chain(fs, &chain, entry->cluster, n_clusters);
    if (e != ERR_OK)
        out->n_extents = 0;
    return e;
}
