/* The parts of a card that only exFAT has. Every file and folder is contiguous, so only the bitmap,
 * the up-case table and the root have chains in the FAT. Fields are named as in Microsoft's
 * specification. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flash_image/card/card_writer.h"

enum {
    SLOT = 32,
    NAME_UNITS = 15, /* in a slot */
    REGION_SECTORS = 12,
    CHECKED_SECTORS = 11, /* sectors that the checksum covers; it fills the next sector */
    EXTENDED_SECTORS = 8,
    VOLUME_FLAGS = 106, /* the checksum skips the two bytes here and the next field */
    PERCENT_IN_USE = 112,
    LETTERS_FROM = 'a',
    LETTERS_END = 'z' + 1,
    PLAIN_UNITS = 128, /* number of entries that the table lists singly */
    TABLE_BYTES = (PLAIN_UNITS + 2) * 2,
    FIRST_CLUSTER = 2,
};
enum { /* EntryType of a slot */
       ENTRY_BITMAP = 0x81,
       ENTRY_CAPITALS = 0x82,
       ENTRY_LABEL = 0x83,
       ENTRY_FILE = 0x85,
       ENTRY_STREAM = 0xc0,
       ENTRY_NAME = 0xc1,
};
enum { HAS_CLUSTERS = 1, NO_CHAIN = 2, FOLDER = 0x10, ARCHIVE = 0x20, UTC = 0x80 };

/* ---- names --------------------------------------------------------------------------------- */

/* Only ASCII letters have capitals, as in card_names_equal: the two agree on which names are
 * equal. */
static uint16_t capital(uint16_t unit)
{
    return unit >= LETTERS_FROM && unit < LETTERS_END ? (uint16_t)(unit - 'a' + 'A') : unit;
}

/* Write the first units singly, as on all volumes, then runs of units that are their own
 * capitals. */
static void table_of_capitals(uint8_t *out)
{
    for (uint16_t unit = 0; unit < PLAIN_UNITS; unit++) {
        card_put_u16(out + (size_t)unit * 2, capital(unit));
    }
    card_put_u16(out + (size_t)PLAIN_UNITS * 2, 0xffff);
    card_put_u16(out + (size_t)PLAIN_UNITS * 2 + 2, 0x10000 - PLAIN_UNITS);
}

static uint32_t name_hash(const uint16_t *units, unsigned n)
{
    uint32_t hash = 0;

    for (unsigned i = 0; i < 2 * n; i++) {
        uint32_t unit = capital(units[i / 2]);

        hash = ((hash << 15 | hash >> 1) + (i % 2 == 0 ? unit & 0xff : unit >> 8)) & 0xffff;
    }
    return hash;
}

/* ---- checksums ----------------------------------------------------------------------------- */

static uint32_t sum32(const uint8_t *data, size_t bytes)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < bytes; i++) {
        sum = (sum << 31 | sum >> 1) + data[i];
    }
    return sum;
}

static uint32_t region_sum(const uint8_t *region)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < (size_t)CHECKED_SECTORS * CARD_SECTOR; i++) {
        if (i != VOLUME_FLAGS && i != VOLUME_FLAGS + 1 && i != PERCENT_IN_USE) {
            sum = (sum << 31 | sum >> 1) + region[i];
        }
    }
    return sum;
}

/* The checksum of a set of slots, without the field that holds it. */
static uint32_t set_sum(const uint8_t *set, unsigned slots)
{
    uint32_t sum = 0;

    for (unsigned i = 0; i < slots * SLOT; i++) {
        if (i != 2 && i != 3) {
            sum = ((sum << 15 | sum >> 1) + set[i]) & 0xffff;
        }
    }
    return sum;
}

/* ---- folders ------------------------------------------------------------------------------- */

static uint32_t stamp(int64_t seconds)
{
    time_t t = (time_t)seconds;
    struct tm tm;

    gmtime_r(&t, &tm);
    if (tm.tm_year < 80) { /* exFAT begins with 1980 */
        tm = (struct tm){ .tm_year = 80, .tm_mday = 1 };
    }
    return (uint32_t)(tm.tm_year - 80) << 25 | (uint32_t)(tm.tm_mon + 1) << 21 |
           (uint32_t)tm.tm_mday << 16 | (uint32_t)tm.tm_hour << 11 | (uint32_t)tm.tm_min << 5 |
           (uint32_t)tm.tm_sec / 2;
}

/* Write the set of directory entries of a file or folder. */
static void put_set(const struct card_entry *e, const struct card_layout *l, uint32_t time,
                    uint8_t *out)
{
    uint64_t bytes = e->is_folder ? (uint64_t)e->n_clusters * l->cluster * CARD_SECTOR : e->bytes;
    uint16_t units[CARD_MOST_UNITS + 1];
    unsigned n = card_name_units(e->name, units);
    uint8_t *stream = out + SLOT;

    out[0] = ENTRY_FILE;
    out[1] = (uint8_t)(e->n_slots - 1);
    card_put_u16(out + 4, e->is_folder ? FOLDER : ARCHIVE);
    for (unsigned at = 8; at <= 16; at += 4) { /* created, written, read */
        card_put_u32(out + at, time);
    }
    memset(out + 22, UTC, 3);
    stream[0] = ENTRY_STREAM;
    stream[1] = bytes == 0 ? HAS_CLUSTERS : HAS_CLUSTERS | NO_CHAIN;
    stream[3] = (uint8_t)n;
    card_put_u16(stream + 4, name_hash(units, n));
    card_put_u64(stream + 8, bytes); /* written so far */
    card_put_u32(stream + 20, e->cluster);
    card_put_u64(stream + 24, bytes);
    for (unsigned i = 0; i < n; i++) {
        uint8_t *slot = out + (size_t)(2 + i / NAME_UNITS) * SLOT;

        slot[0] = ENTRY_NAME;
        card_put_u16(slot + 2 + (size_t)(i % NAME_UNITS) * 2, units[i]);
    }
    card_put_u16(out + 2, set_sum(out, e->n_slots));
}

/* Write the entries of the volume's name, the bitmap and the up-case table, whose clusters exFAT
 * itself uses. */
static uint8_t *put_root_slots(const struct card_layout *l, uint8_t *out)
{
    static const char label[] = "INGOT";
    uint8_t table[TABLE_BYTES];

    table_of_capitals(table);
    out[0] = ENTRY_LABEL;
    out[1] = sizeof label - 1;
    for (unsigned i = 0; i + 1 < sizeof label; i++) {
        out[2 + 2 * i] = (uint8_t)label[i];
    }
    out += SLOT;
    out[0] = ENTRY_BITMAP;
    card_put_u32(out + 20, FIRST_CLUSTER);
    card_put_u64(out + 24, (l->n_clusters + 7ull) / 8);
    out += SLOT;
    out[0] = ENTRY_CAPITALS;
    card_put_u32(out + 4, sum32(table, sizeof table));
    card_put_u32(out + 20, FIRST_CLUSTER + l->n_own - 1);
    card_put_u64(out + 24, sizeof table);
    return out + SLOT;
}

void card_put_exfat_folder(const struct card_image *c, const struct card_layout *l, uint32_t i,
                           int64_t time, uint8_t *out)
{
    if (i == 0) {
        out = put_root_slots(l, out);
    }
    for (uint32_t k = 1; k < c->n; k++) {
        if (c->entries[k].folder == i) {
            put_set(&c->entries[k], l, stamp(time), out);
            out += (size_t)c->entries[k].n_slots * SLOT;
        }
    }
}

/* ---- the volume ---------------------------------------------------------------------------- */

static void boot_sector(const struct card_writer *w, uint8_t *s)
{
    static const uint8_t jump[3] = { 0xeb, 0x76, 0x90 };
    const struct card_layout *l = w->layout;
    uint8_t shift = 0;

    while (1u << shift < l->cluster) {
        shift++;
    }
    memcpy(s, jump, sizeof jump);
    memcpy(s + 3, "EXFAT   ", 8);
    card_put_u64(s + 64, l->start);
    card_put_u64(s + 72, l->n);
    card_put_u32(s + 80, l->reserved); /* where the FAT is */
    card_put_u32(s + 84, l->fat);
    card_put_u32(s + 88, l->heap);
    card_put_u32(s + 92, l->n_clusters);
    card_put_u32(s + 96, w->card->entries[0].cluster);
    card_put_u32(s + 100, card_volume_id(w));
    card_put_u16(s + 104, 0x0100); /* revision */
    s[108] = 9;                    /* log2 of the bytes in a sector */
    s[109] = shift;
    s[110] = 1; /* FAT */
    s[111] = 0x80;
    s[PERCENT_IN_USE] = (uint8_t)((uint64_t)l->n_used * 100 / l->n_clusters);
    memset(s + 120, 0xf4, 390); /* code: halt */
    card_sign(s);
}

static enum err put_regions(struct card_writer *w)
{
    uint8_t region[REGION_SECTORS * CARD_SECTOR] = { 0 };
    uint64_t at = w->layout->start * CARD_SECTOR;
    uint32_t sum;
    enum err e;

    boot_sector(w, region);
    for (unsigned i = 1; i <= EXTENDED_SECTORS; i++) {
        card_sign(region + (size_t)i * CARD_SECTOR);
    }
    sum = region_sum(region);
    for (size_t i = 0; i < CARD_SECTOR; i += 4) {
        card_put_u32(region + (size_t)CHECKED_SECTORS * CARD_SECTOR + i, sum);
    }
    e = card_put(w, at, region, sizeof region);
    return e == ERR_OK ? card_put(w, at + sizeof region, region, sizeof region) : e;
}

/* Write the FAT entries of n contiguous clusters. */
static void chain(uint8_t *fat, uint32_t cluster, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++, cluster++) {
        card_put_u32(fat + (size_t)cluster * 4, i + 1 == n ? UINT32_MAX : cluster + 1);
    }
}

static enum err put_fat(struct card_writer *w)
{
    const struct card_layout *l = w->layout;
    const struct card_entry *root = &w->card->entries[0];
    size_t bytes = ((size_t)root->cluster + root->n_clusters) *
                   4; /* the root has the last of the three chains */
    uint8_t *fat = calloc(1, bytes);
    enum err e;

    if (fat == NULL) {
        return card_refuse(w, "out of memory");
    }
    card_put_u32(fat, 0xfffffff8);
    card_put_u32(fat + 4, UINT32_MAX);
    chain(fat, FIRST_CLUSTER, l->n_own - 1);
    chain(fat, FIRST_CLUSTER + l->n_own - 1, 1);
    chain(fat, root->cluster, root->n_clusters);
    e = card_put(w, (l->start + l->reserved) * CARD_SECTOR, fat, bytes);
    free(fat);
    return e;
}

/* Write the bitmap; the clusters in use are the first ones. */
static enum err put_bitmap(struct card_writer *w)
{
    size_t bytes = (w->layout->n_used + (size_t)7) / 8;
    uint8_t *bits = calloc(1, bytes);
    enum err e;

    if (bits == NULL) {
        return card_refuse(w, "out of memory");
    }
    memset(bits, 0xff, w->layout->n_used / 8);
    if (w->layout->n_used % 8 != 0) {
        bits[bytes - 1] = (uint8_t)((1u << w->layout->n_used % 8) - 1);
    }
    e = card_put(w, card_cluster_offset(w->layout, FIRST_CLUSTER), bits, bytes);
    free(bits);
    return e;
}

enum err card_put_exfat(struct card_writer *w)
{
    uint8_t table[TABLE_BYTES];
    enum err e = put_regions(w);

    if (e == ERR_OK) {
        e = put_fat(w);
    }
    if (e == ERR_OK) {
        e = put_bitmap(w);
    }
    if (e == ERR_OK) {
        table_of_capitals(table);
        e = card_put(w, card_cluster_offset(w->layout, FIRST_CLUSTER + w->layout->n_own - 1), table,
                     sizeof table);
    }
    return e;
}
