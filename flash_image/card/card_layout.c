/* The geometry of a card: the positions of the partition, its tables and every file. */
#include <inttypes.h>
#include <stdio.h>

#include "flash_image/card/card_image.h"

enum {
    SECTORS_PER_MIB = 2048,
    START_MIB = 1, /* alignment of the partition, for the erase blocks of cards */
    TAIL_MIB = 1,  /* space at the end for the copy of a GPT */
    LEAST_MIB = 40,
    LEAST_CLUSTERS = 65525, /* readers take a volume with fewer clusters for FAT16 */
    SPARE_CLUSTERS = 4096,  /* distance to that limit */
    RESERVED = 32,          /* sectors, at the least */
    ALIGN = 64,             /* clusters start at multiples of this, in sectors of the card */
    FIRST_CLUSTER = 2,
    SLOT = 32,
    SLOTS_OF_DOTS = 2,    /* "." and ".."; the root has one entry, the volume's name */
    EXFAT_ROOT_SLOTS = 3, /* the volume's name, bitmap and up-case table; only the root has them */
    EXFAT_RESERVED = 64,  /* least reserved sectors: two boot regions have 24 */
    EXFAT_CLUSTER = 64,
    EXFAT_LARGE_CLUSTER = 256, /* sectors */
};
static const uint64_t large_volume =
    32ull << 30 >> 9; /* card size, in sectors; from here on mkfs.exfat uses larger clusters, too */

/* ---- needed clusters ------------------------------------------------------------------------- */

static uint64_t folder_bytes(const struct card_image *c, uint32_t folder)
{
    uint64_t slots = folder == 0 ? 1 : SLOTS_OF_DOTS;

    if (c->format == CARD_EXFAT) {
        slots = folder == 0 ? EXFAT_ROOT_SLOTS : 0;
    }
    for (uint32_t i = 1; i < c->n; i++) {
        if (c->entries[i].folder == folder) {
            slots += c->entries[i].n_slots;
        }
    }
    return slots * SLOT;
}

/* Skip the first `taken` clusters and give each entry its clusters, folders first. Return the
 * number of clusters in use. */
static uint64_t take_clusters(struct card_image *c, uint32_t cluster_bytes, uint32_t taken)
{
    uint64_t next = FIRST_CLUSTER + (uint64_t)taken;

    for (int folders = 1; folders >= 0; folders--) {
        for (uint32_t i = 0; i < c->n; i++) {
            struct card_entry *e = &c->entries[i];
            uint64_t n;

            if (e->is_folder != (folders == 1)) {
                continue;
            }
            if (e->is_folder) {
                e->bytes = folder_bytes(c, i);
            }
            n = (e->bytes + cluster_bytes - 1) / cluster_bytes;
            e->cluster = n == 0 ? 0 : (uint32_t)next;
            e->n_clusters = (uint32_t)n;
            next += n;
        }
    }
    return next - FIRST_CLUSTER;
}

/* ---- the partition --------------------------------------------------------------------------- */

/* Return the largest cluster size that leaves enough clusters, because fewer clusters make a
 * shorter FAT. */
static uint32_t cluster_sectors(uint64_t partition)
{
    uint32_t sectors = CARD_MOST_CLUSTER / CARD_SECTOR;

    while (sectors > 1 && partition / sectors < LEAST_CLUSTERS + SPARE_CLUSTERS) {
        sectors /= 2;
    }
    return sectors;
}

/* Make the FAT large enough for the clusters that would fit if the FAT took no space; then add
 * reserved sectors until clusters are aligned. */
static void divide_fat32(struct card_layout *l)
{
    uint32_t off;

    l->reserved = RESERVED;
    l->cluster = cluster_sectors(l->n);
    l->fat = (uint32_t)((l->n / l->cluster + FIRST_CLUSTER + CARD_SECTOR / 4 - 1) /
                        (CARD_SECTOR / 4));
    off = (uint32_t)((l->start + l->reserved + 2ull * l->fat) % ALIGN);
    l->reserved += (ALIGN - off) % ALIGN;
    l->heap = l->reserved + 2 * l->fat;
    l->n_clusters = (uint32_t)((l->n - l->heap) / l->cluster);
}

/* Divide an exFAT volume. The up-case table takes one cluster, the bitmap one bit per cluster. */
static void divide_exfat(struct card_layout *l)
{
    uint32_t per_cluster, off;

    l->reserved = EXFAT_RESERVED;
    l->cluster = l->n >= large_volume ? EXFAT_LARGE_CLUSTER : EXFAT_CLUSTER;
    l->fat = (uint32_t)((l->n / l->cluster + FIRST_CLUSTER + CARD_SECTOR / 4 - 1) /
                        (CARD_SECTOR / 4));
    off = (uint32_t)((l->start + l->reserved + l->fat) % l->cluster);
    l->heap = l->reserved + l->fat + (l->cluster - off) % l->cluster;
    l->n_clusters = (uint32_t)((l->n - l->heap) / l->cluster);
    per_cluster = l->cluster * CARD_SECTOR * 8;
    l->n_own = (l->n_clusters + per_cluster - 1) / per_cluster + 1;
}

/* True if the contents fit a partition from `front` to `end`, both in MiB of the card. */
static bool fits(struct card_image *c, struct card_layout *l, uint64_t front, uint64_t end)
{
    uint64_t used;

    *l = (struct card_layout){ .format = c->format,
                               .start = front * SECTORS_PER_MIB,
                               .n = (end - front) * SECTORS_PER_MIB };
    if (c->format == CARD_EXFAT) {
        divide_exfat(l);
    } else {
        divide_fat32(l);
    }
    used = take_clusters(c, l->cluster * CARD_SECTOR, l->n_own);
    l->n_used = (uint32_t)used;
    return used <= l->n_clusters;
}

/* Return the end, in MiB, of the smallest partition that starts at `front`, also in MiB. */
static uint64_t needed_mib(struct card_image *c, struct card_layout *l, uint64_t front)
{
    uint64_t content = 0;
    uint64_t mib;

    for (uint32_t i = 0; i < c->n; i++) {
        content += c->entries[i].is_folder ? 0 : c->entries[i].bytes;
    }
    mib = front + content / (1u << 20) + 1;
    if (mib < front + LEAST_MIB - 1) {
        mib = front + LEAST_MIB - 1;
    }
    while (!fits(c, l, front, mib)) {
        mib += 1 + mib / 256;
    }
    return mib;
}

/* Leave a little space free, so that boot arguments can be edited on the card. */
static uint64_t with_room(uint64_t mib)
{
    return mib == LEAST_MIB ? mib : mib + 4;
}

static uint64_t power_of_two(uint64_t mib)
{
    uint64_t rounded = 1;

    while (rounded < mib) {
        rounded *= 2;
    }
    return rounded;
}

/* Return how many MiB of the card follow the partitions with files. */
static uint64_t tail_of(const struct card_options *o)
{
    uint64_t tail = o->table == CARD_GPT ? TAIL_MIB : 0;

    if (o->payload != NULL) {
        tail += (o->payload->bytes + (1u << 20) - 1) >> 20;
    }
    return tail;
}

enum err card_lay_out(struct card_image *c, const struct card_options *o, struct card_layout *l,
                      struct card_layout *boot)
{
    uint64_t front = START_MIB, tail = tail_of(o);
    uint64_t least, mib;

    if (o->boot != NULL) {
        front = with_room(needed_mib(o->boot, boot, START_MIB));
        fits(o->boot, boot, START_MIB, front);
    }
    least = needed_mib(c, l, front) + tail;
    mib = o->bytes == 0 ? with_room(least) : o->bytes >> 20;
    if (mib < least) {
        snprintf(c->error_message, sizeof c->error_message,
                 "the card is too small: its contents need %" PRIu64 "M, but it has %" PRIu64 "M",
                 least, mib);
        return ERR_NO_SPACE;
    }
    if (o->power_of_two) {
        mib = power_of_two(mib);
    }
    if (o->table == CARD_MBR && mib > CARD_MOST_BYTES >> 20) {
        snprintf(c->error_message, sizeof c->error_message,
                 "an MBR covers only 2 TiB of a card: use a GPT");
        return ERR_NO_SPACE;
    }
    if (c->format == CARD_FAT32 && mib > CARD_MOST_BYTES >> 20) {
        snprintf(c->error_message, sizeof c->error_message, "FAT32 ends at 2 TiB: take exFAT");
        return ERR_NO_SPACE;
    }
    fits(c, l, front, mib - tail);
    l->sectors = mib * SECTORS_PER_MIB;
    return ERR_OK;
}
