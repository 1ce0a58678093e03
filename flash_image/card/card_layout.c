/* The geometry of a card: where the partition, its tables and every file lie. */
#include <inttypes.h>
#include <stdio.h>

#include "flash_image/card/card_image.h"

enum {
    SECTORS_PER_MIB = 2048,
    START = SECTORS_PER_MIB, /* of the partition: suits the erase blocks of cards */
    LEAST_MIB = 40,
    LEAST_CLUSTERS = 65525, /* fewer, and a FAT32 is taken for a FAT16 */
    SPARE_CLUSTERS = 4096,  /* stay away from that border */
    RESERVED = 32,          /* sectors, at the least */
    ALIGN = 64,             /* clusters begin on this many sectors of the card */
    FIRST_CLUSTER = 2,
    SLOT = 32,
    SLOTS_OF_DOTS = 2, /* "." and ".."; the root has one, the volume's name */
};

/* ---- clusters that are needed ---------------------------------------------------------------- */

static uint64_t folder_bytes(const struct card_image *c, uint32_t folder)
{
    uint64_t slots = folder == 0 ? 1 : SLOTS_OF_DOTS;

    for (uint32_t i = 1; i < c->n; i++) {
        if (c->entries[i].folder == folder) {
            slots += c->entries[i].n_slots;
        }
    }
    return slots * SLOT;
}

/* Give every entry its clusters, folders first; returns how many there are. */
static uint64_t take_clusters(struct card_image *c, uint32_t cluster_bytes)
{
    uint64_t next = FIRST_CLUSTER;

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

/* The largest cluster that leaves enough of them: few clusters make a short FAT. */
static uint32_t cluster_sectors(uint64_t partition)
{
    uint32_t sectors = CARD_MOST_CLUSTER / CARD_SECTOR;

    while (sectors > 1 && partition / sectors < LEAST_CLUSTERS + SPARE_CLUSTERS) {
        sectors /= 2;
    }
    return sectors;
}

/* The partition of a card of so many sectors. The FAT has room for the clusters that there would be
 * without it, and the reserved sectors grow until clusters are aligned. */
static void divide(struct card_layout *l, uint64_t sectors)
{
    uint32_t off;

    *l = (struct card_layout){ .sectors = sectors, .start = START, .reserved = RESERVED };
    l->n = (uint32_t)(sectors - START);
    l->cluster = cluster_sectors(l->n);
    l->fat = (l->n / l->cluster + FIRST_CLUSTER + CARD_SECTOR / 4 - 1) / (CARD_SECTOR / 4);
    off = (l->start + l->reserved + 2 * l->fat) % ALIGN;
    l->reserved += (ALIGN - off) % ALIGN;
    l->n_clusters = (l->n - l->reserved - 2 * l->fat) / l->cluster;
}

/* Whether the contents fit a card of so many MiB. */
static bool fits(struct card_image *c, struct card_layout *l, uint64_t mib)
{
    uint64_t used;

    divide(l, mib * SECTORS_PER_MIB);
    used = take_clusters(c, l->cluster * CARD_SECTOR);
    l->n_used = (uint32_t)used;
    return used <= l->n_clusters;
}

static uint64_t needed_mib(struct card_image *c, struct card_layout *l)
{
    uint64_t content = 0;
    uint64_t mib;

    for (uint32_t i = 0; i < c->n; i++) {
        content += c->entries[i].is_folder ? 0 : c->entries[i].bytes;
    }
    mib = content / (1u << 20) + 2;
    if (mib < LEAST_MIB) {
        mib = LEAST_MIB;
    }
    while (!fits(c, l, mib)) {
        mib += 1 + mib / 256;
    }
    return mib;
}

/* A little room is left, for words that are edited on the card. */
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

enum err card_lay_out(struct card_image *c, const struct card_options *o, struct card_layout *l)
{
    uint64_t least = needed_mib(c, l);
    uint64_t mib = o->bytes == 0 ? with_room(least) : o->bytes >> 20;

    if (mib < least) {
        snprintf(c->problem, sizeof c->problem,
                 "the card is too small: it needs %" PRIu64 "M, and has %" PRIu64 "M", least, mib);
        return ERR_NO_SPACE;
    }
    if (o->power_of_two) {
        mib = power_of_two(mib);
    }
    if (mib > CARD_MOST_BYTES >> 20) {
        snprintf(c->problem, sizeof c->problem, "a card with an MBR ends at 2 TiB");
        return ERR_NO_SPACE;
    }
    fits(c, l, mib);
    return ERR_OK;
}
