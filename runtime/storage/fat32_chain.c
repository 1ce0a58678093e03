/* Finds, chains and frees clusters in the FAT. Section names are those of Microsoft's FAT32 File
 * System Specification 1.03. */
#include "runtime/storage/fat32_chain.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/storage/fat32_volume.h"
#include "runtime/storage/fat32_write.h"

enum {
    CHAIN_END = 0x0fffffff,
    FSI_LEAD = 0x41615252, /* "FAT32 FSInfo Sector Structure" */
    FSI_FREE_COUNT = 488,
    FSI_STRUCT_SIG = 484,
    FSI_STRUCT = 0x61417272,
    FSI_TRAIL_SIG = 508,
    MOST_COUNTED = 1 << 23, /* the most FAT entries read to count free clusters, 32 MiB */
};
static const uint32_t FSI_TRAIL = 0xaa550000;

static const uint64_t most_bytes = UINT32_MAX; /* DIR_FileSize */

/* Sectors of the FAT that were changed in fs->buffer and not written yet. */
struct fat_edit {
    struct fat32 *fs;
    uint64_t first, end; /* sectors of the device */
};

static void put_u32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

static enum err write_at(struct fat32 *fs, uint64_t sector, const uint8_t *bytes, uint32_t n)
{
    enum err e = file_write_now(&fs->read, &fs->device, sector * SECTOR_BYTES, bytes,
                                (size_t)n * SECTOR_BYTES);

    return e == ERR_OK ? e : fat32_fail(fs, e, "the card cannot be written");
}

enum err fat32_put_sectors(struct fat32 *fs, uint64_t sector, uint32_t n)
{
    return write_at(fs, sector, fs->buffer + (sector - fs->buffer_sector) * SECTOR_BYTES, n);
}

enum err fat32_clear_cluster(struct fat32 *fs, uint32_t cluster, const uint8_t *first)
{
    uint64_t at = fat32_cluster_sector(fs, cluster), end = at + fs->cluster_sectors;
    enum err e = ERR_OK;

    fs->buffer_sectors = 0;
    memset(fs->buffer, 0, sizeof fs->buffer);
    if (first != NULL)
        memcpy(fs->buffer, first, SECTOR_BYTES);
    /* The buffer is zero except for the caller's first sector. */
    while (e == ERR_OK && at < end) {
        uint32_t n = (uint32_t)min_u64(end - at, FAT32_BUFFER_SECTORS);

        e = write_at(fs, at, fs->buffer, n);
        memset(fs->buffer, 0, SECTOR_BYTES);
        at += n;
    }
    return e;
}

/* ---- entries of the FAT ---------------------------------------------------------------------- */

/* Write the changes to all FATs, first to the FAT in use. */
static enum err flush(struct fat_edit *edit)
{
    uint64_t first = edit->first;
    uint32_t n = (uint32_t)(edit->end - first);
    const uint8_t *bytes = edit->fs->buffer + (first - edit->fs->buffer_sector) * SECTOR_BYTES;
    enum err e = ERR_OK;

    for (uint32_t i = 0; n != 0 && e == ERR_OK && i <= edit->fs->n_mirrors; i++)
        e = write_at(edit->fs, first + i * edit->fs->fat_sectors, bytes, n);
    edit->first = edit->end = 0;
    return e;
}

/* Set *entry to the cluster's entry in fs->buffer. Changes of other sectors are written first. */
static enum err come_to(struct fat_edit *edit, uint32_t cluster, uint64_t *sector, uint8_t **entry)
{
    struct fat32 *fs = edit->fs;
    const uint8_t *found;
    enum err e = ERR_OK;

    *sector = fs->fat_sector + cluster / FAT32_SECTOR_CLUSTERS;
    /* The buffer is about to hold other sectors. */
    if (*sector < fs->buffer_sector || *sector - fs->buffer_sector >= fs->buffer_sectors)
        e = flush(edit);
    if (e == ERR_OK)
        e = fat32_fetch_sector(fs, *sector, &found);
    *entry = fs->buffer + (*sector - fs->buffer_sector) * SECTOR_BYTES +
             cluster % FAT32_SECTOR_CLUSTERS * 4;
    return e;
}

static enum err set_entry(struct fat_edit *edit, uint32_t cluster, uint32_t value)
{
    uint64_t sector;
    uint8_t *entry;
    enum err e = come_to(edit, cluster, &sector, &entry);

    if (e != ERR_OK)
        return e;
    /* The upper four bits are reserved and must be kept (FAT32 File System Specification, "FAT
     * Data Structure"). */
    put_u32(entry, (fat32_u32(entry) & ~edit->fs->entry_mask) | value);
    edit->first = edit->end == 0 ? sector : min_u64(edit->first, sector);
    edit->end = sector >= edit->end ? sector + 1 : edit->end;
    return ERR_OK;
}

/* Find out whether one FAT calls a cluster free. Number 0 is the FAT in use. */
static enum err is_free_in(struct fat32 *fs, uint32_t fat, uint32_t cluster, bool *free)
{
    uint64_t first = fs->fat_sector + fat * fs->fat_sectors;
    const uint8_t *sector;
    enum err e = fat32_fetch_sector(fs, first + cluster / FAT32_SECTOR_CLUSTERS, &sector);

    if (e == ERR_OK)
        *free = (fat32_u32(sector + cluster % FAT32_SECTOR_CLUSTERS * 4) & fs->entry_mask) == 0;
    return e;
}

/* ---- free clusters --------------------------------------------------------------------------- */

/* Find the next run of at most `most` free clusters in one FAT, from *at on. *n is 0 if there is no
 * free cluster. *at advances past the run. */
static enum err next_run_in(struct fat32 *fs, uint32_t fat, uint32_t *at, uint64_t most,
                            uint32_t *first, uint64_t *n)
{
    uint64_t reach = fs->end_sector <= fs->data_sector
                         ? 0
                         : (fs->end_sector - fs->data_sector) / fs->cluster_sectors;
    uint32_t end = (uint32_t)min_u64(fs->n_clusters, reach) + 2;
    bool free = true;
    enum err e = ERR_OK;

    *n = 0;
    /* Continue to the first used cluster after a free one. */
    while (e == ERR_OK && *at < end && *n < most && (free || *n == 0)) {
        e = is_free_in(fs, fat, *at, &free);
        if (free) {
            *first = *n == 0 ? *at : *first;
            ++*n;
        }
        ++*at;
    }
    return e;
}

/* Compare the FATs. *n becomes the number of clusters, from `first` on, that all other FATs call
 * free. *used becomes the number of clusters after these that a FAT calls used. */
static enum err agree(struct fat32 *fs, uint32_t first, uint64_t *n, uint64_t *used)
{
    *used = 0;
    for (uint32_t fat = 1; fat <= fs->n_mirrors; fat++) {
        uint64_t all = *n, bad = 0;

        for (uint64_t i = 0; i < all; i++) {
            bool free = true;
            enum err e = is_free_in(fs, fat, first + (uint32_t)i, &free);

            if (e != ERR_OK)
                return e;
            /* Find the end of the run that this FAT calls used. */
            if (free && bad != 0)
                break;
            if (!free && bad++ == 0)
                *n = i;
        }
        *used = bad != 0 ? bad : *used;
    }
    return ERR_OK;
}

/* Find the next run that all FATs call free. A FAT that is damaged, or was partly written,
 * may call clusters of files free. Runs of fewer than `least` are not compared, because switching
 * between FATs for many short runs takes long. */
static enum err next_run(struct fat32 *fs, uint32_t *at, uint64_t least, uint64_t most,
                         uint32_t *first, uint64_t *n)
{
    enum err e;

    for (;;) {
        uint64_t found, used = 0;

        e = next_run_in(fs, 0, at, most, first, n);
        found = *n;
        if (e != ERR_OK || found == 0)
            return e;
        /* The run is too short, whatever the other FATs say. */
        if (found < least)
            continue;
        e = agree(fs, *first, n, &used);
        if (e != ERR_OK || *n == found)
            return e;
        /* Continue after the part in which the FATs differ. */
        *at = *first + (uint32_t)(*n + used);
        if (*n != 0)
            return e;
    }
}

enum err fat32_find_free(struct fat32 *fs, uint32_t *cluster)
{
    uint32_t at = 2;
    uint64_t n = 0;
    enum err e = next_run(fs, &at, 1, 1, cluster, &n);

    return e == ERR_OK && n == 0 ? fat32_fail(fs, ERR_NO_SPACE, "the card is full") : e;
}

/* Find the first run that is long enough. *n is 0 if there is no such run. */
static enum err find_whole(struct fat32 *fs, uint64_t wanted, uint32_t *first, uint64_t *n)
{
    uint32_t at = 2;
    enum err e;

    do
        e = next_run(fs, &at, wanted, wanted, first, n);
    while (e == ERR_OK && *n != 0 && *n < wanted);
    return e;
}

static enum err add_run(struct fat32 *fs, const struct file_table *table, struct file *out,
                        uint32_t first, uint64_t n)
{
    if (out->n_extents == table->most)
        return fat32_fail(fs, ERR_TOO_FRAGMENTED,
                          "the card's free space is in too many pieces: delete files, or copy "
                          "them to a freshly formatted card");
    table->extents[out->n_extents++] = (struct file_extent){ fat32_cluster_sector(fs, first),
                                                             n * fs->cluster_sectors };
    return ERR_OK;
}

static enum err reserve(struct fat32 *fs, uint64_t wanted, const struct file_table *table,
                        struct file *out)
{
    uint32_t at = 2, first = 0;
    uint64_t n = 0;
    enum err e = find_whole(fs, wanted, &first, &n);

    if (e != ERR_OK || n == wanted)
        return e == ERR_OK ? add_run(fs, table, out, first, n) : e;
    /* No single run is long enough, so take several in order. */
    while (e == ERR_OK && wanted != 0) {
        e = next_run(fs, &at, 1, wanted, &first, &n);
        if (e == ERR_OK && n == 0)
            return fat32_fail(fs, ERR_NO_SPACE, "the card has no room for it: delete files");
        if (e == ERR_OK)
            e = add_run(fs, table, out, first, n);
        wanted -= n;
    }
    return e;
}

enum err fat32_reserve(struct fat32 *fs, uint64_t bytes, const struct file_table *table,
                       struct file *out)
{
    uint64_t cluster_bytes = (uint64_t)fs->cluster_sectors * SECTOR_BYTES;
    enum err e;

    fs->why = NULL;
    memset(out, 0, sizeof *out);
    /* Refuse a volume that cannot be written, and say why. */
    if (fs->is_exfat)
        return fat32_fail(
            fs, ERR_UNSUPPORTED,
            "the disk is exFAT, where files are not made: use one with FAT32, or copy "
            "the file on a computer");
    if (!fs->device.device->writable)
        return fat32_fail(fs, ERR_UNSUPPORTED, "it is read-only");
    if (fs->sealed != NULL)
        return fat32_fail(fs, ERR_BAD_FILESYSTEM, fs->sealed);
    if (bytes == 0 || bytes > most_bytes)
        return fat32_fail(fs, ERR_RANGE, "a file on FAT32 has 1 to 4294967295 bytes");
    out->device = fs->device.device;
    out->timeout = fs->device.timeout;
    out->bytes = bytes;
    out->table = table->extents;
    e = reserve(fs, (bytes + cluster_bytes - 1) / cluster_bytes, table, out);
    if (e != ERR_OK)
        out->n_extents = 0;
    return e;
}

/* ---- chains ---------------------------------------------------------------------------------- */

static uint32_t cluster_of(const struct fat32 *fs, uint64_t sector)
{
    return (uint32_t)((sector - fs->data_sector) / fs->cluster_sectors) + 2;
}

uint32_t fat32_first_cluster(const struct fat32 *fs, const struct file *file)
{
    return cluster_of(fs, file_extents(file)[0].sector);
}

/* Return true if an extent has whole clusters of this volume; the card may have been exchanged. */
static bool has_extent(const struct fat32 *fs, const struct file_extent *x)
{
    uint64_t at = x->sector - fs->data_sector, n = fs->cluster_sectors;

    return x->sector >= fs->data_sector && at % n == 0 && x->n_sectors % n == 0 &&
           at / n + x->n_sectors / n <= fs->n_clusters;
}

/* Check in one FAT that the file's clusters are free. */
static enum err check_free_in(struct fat32 *fs, uint32_t fat, const struct file *file, bool *free)
{
    const struct file_extent *x = file_extents(file);
    enum err e = ERR_OK;

    for (uint32_t i = 0; i < file->n_extents && *free; i++) {
        uint32_t at = cluster_of(fs, x[i].sector);
        uint32_t end = at + (uint32_t)(x[i].n_sectors / fs->cluster_sectors);

        *free = has_extent(fs, &x[i]);
        for (; e == ERR_OK && *free && at < end; at++)
            e = is_free_in(fs, fat, at, free);
    }
    return e;
}

enum err fat32_check_free(struct fat32 *fs, const struct file *file)
{
    bool free = !fs->is_exfat && fs->sealed == NULL;
    enum err e = ERR_OK;

    /* A card that was exchanged may have other files in these clusters. */
    for (uint32_t fat = 0; e == ERR_OK && free && fat <= fs->n_mirrors; fat++)
        e = check_free_in(fs, fat, file, &free);
    if (e == ERR_OK && !free)
        return fat32_fail(fs, ERR_BAD_FILESYSTEM,
                          "this is not the card that the file was written to: send it again");
    return e;
}

enum err fat32_link_file(struct fat32 *fs, const struct file *file)
{
    const struct file_extent *x = file_extents(file);
    struct fat_edit edit = { fs, 0, 0 };
    enum err e = ERR_OK;

    for (uint32_t i = 0; i < file->n_extents; i++) {
        uint32_t at = cluster_of(fs, x[i].sector);
        uint32_t end = at + (uint32_t)(x[i].n_sectors / fs->cluster_sectors);
        /* The last cluster of an extent leads to the next extent. */
        uint32_t next = i + 1 < file->n_extents ? cluster_of(fs, x[i + 1].sector) : CHAIN_END;

        for (; e == ERR_OK && at < end; at++)
            e = set_entry(&edit, at, at + 1 < end ? at + 1 : next);
    }
    return e == ERR_OK ? flush(&edit) : e;
}

enum err fat32_link_cluster(struct fat32 *fs, uint32_t before, uint32_t cluster)
{
    struct fat_edit edit = { fs, 0, 0 };
    enum err e = set_entry(&edit, cluster, CHAIN_END);

    /* Write the chain's end before another entry leads to it. */
    if (e == ERR_OK)
        e = flush(&edit);
    if (e == ERR_OK && before != 0)
        e = set_entry(&edit, before, cluster);
    return e == ERR_OK ? flush(&edit) : e;
}

enum err fat32_check_length(struct fat32 *fs, uint32_t cluster, uint64_t bytes)
{
    uint64_t cluster_bytes = (uint64_t)fs->cluster_sectors * SECTOR_BYTES;
    uint64_t n = (bytes + cluster_bytes - 1) / cluster_bytes;
    enum err e = ERR_OK;

    /* The chain must have exactly as many clusters as the size needs. */
    for (; e == ERR_OK && n > 0 && cluster != 0; n--)
        e = fat32_next_cluster(fs, cluster, &cluster);
    if (e == ERR_OK && (n != 0 || cluster != 0))
        return fat32_fail(
            fs, ERR_BAD_FILESYSTEM,
            "the cluster chain of the file that is to be replaced has the wrong length: "
            "repair the card on a computer with fsck.vfat -a");
    return e;
}

enum err fat32_free_chain(struct fat32 *fs, uint32_t cluster)
{
    struct fat_edit edit = { fs, 0, 0 };
    uint32_t n = 0;
    enum err e = ERR_OK;

    /* A damaged chain may be a cycle, so stop after as many clusters as the volume has. */
    while (e == ERR_OK && fat32_is_cluster(fs, cluster) && n++ < fs->n_clusters) {
        uint64_t sector;
        uint8_t *entry;
        uint32_t next = 0;

        e = come_to(&edit, cluster, &sector, &entry);
        if (e == ERR_OK) {
            next = fat32_u32(entry) & fs->entry_mask;
            e = set_entry(&edit, cluster, 0);
        }
        cluster = next;
    }
    return e == ERR_OK ? flush(&edit) : e;
}

/* ---- FSInfo ---------------------------------------------------------------------------------- */

/* A sector without the three signatures is not an FSInfo sector. */
static bool is_info(const uint8_t *sector)
{
    return fat32_u32(sector) == FSI_LEAD && fat32_u32(sector + FSI_STRUCT_SIG) == FSI_STRUCT &&
           fat32_u32(sector + FSI_TRAIL_SIG) == FSI_TRAIL;
}

static enum err put_free(struct fat32 *fs, uint32_t free)
{
    const uint8_t *sector;
    enum err e;

    if (fs->info_sector == 0)
        return ERR_OK;
    e = fat32_fetch_sector(fs, fs->info_sector, &sector);
    /* Do not create the hint if it does not exist. */
    if (e != ERR_OK || !is_info(sector))
        return e;
    put_u32(fs->buffer + (fs->info_sector - fs->buffer_sector) * SECTOR_BYTES + FSI_FREE_COUNT,
            free);
    return fat32_put_sectors(fs, fs->info_sector, 1);
}

enum err fat32_forget_free(struct fat32 *fs)
{
    return put_free(fs, UINT32_MAX);
}

enum err fat32_tell_free(struct fat32 *fs)
{
    uint32_t n = 0;
    bool free = false;
    enum err e = ERR_OK;

    if (fs->info_sector == 0 || fs->n_clusters > MOST_COUNTED)
        return ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < fs->n_clusters; i++) {
        e = is_free_in(fs, 0, i + 2, &free);
        n += free;
    }
    return e == ERR_OK ? put_free(fs, n) : e;
}
