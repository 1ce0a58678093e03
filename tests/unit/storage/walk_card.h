/* A small card, made in memory without Ingot's code: FAT32 or exFAT, with an MBR, with a GPT or
 * without a table, other partitions before and behind it, and a map of what belongs to whom. */
#ifndef INGOT_TESTS_UNIT_WALK_CARD_H
#define INGOT_TESTS_UNIT_WALK_CARD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "runtime/storage/partitions.h"

enum {
    CARD_CLUSTERS = 3000, /* of 512 bytes */
    CARD_FATS = 2,        /* FAT32 */
    CARD_FAT_SECTORS = 24,
    CARD_RESERVED = 32, /* FAT32; exFAT's two regions take 24 and some more */
    CARD_START = 128,
    CARD_BEHIND = 256, /* sectors of the partition behind it */
    CARD_META = CARD_RESERVED + CARD_FATS * CARD_FAT_SECTORS,
    CARD_VOLUME = CARD_META + CARD_CLUSTERS,
    CARD_DISK = CARD_START + CARD_VOLUME + CARD_BEHIND,
    CARD_MOST_FILES = 24,
    CARD_MOST_PLACES = 400,
    CARD_GPT_TABLE = 2,
    NOBODY = 0, /* owners: files have 1 and on, folders ... */
    OWNER_FOLDER = 64,
    OWNER_TABLES = 100, /* ... and exFAT's bitmap and table of upper case */
};

enum card_table { CARD_BARE, CARD_MBR, CARD_GPT };

struct card_file {
    char path[40];
    unsigned folder; /* number of its folder */
    uint32_t first, bytes;
    uint32_t entry, entry_bytes; /* where its entries are on the disk */
};

struct card_folder {
    const char *path;
    uint32_t first, n;
    uint32_t next; /* where its next entry goes, from its first byte on */
};

struct card {
    bool is_exfat;
    enum card_table table;
    uint32_t start; /* of the volume */
    struct card_file files[CARD_MOST_FILES + 1];
    unsigned n_files;
    struct card_folder folders[8];
    unsigned n_folders;
    uint32_t next; /* free cluster */
    uint32_t bitmap;
    uint16_t owner[CARD_CLUSTERS + 2];
    uint8_t disk[CARD_DISK * 512];
};

static inline void card_put(uint8_t *p, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (uint8_t)(value >> (8 * i));
}

static inline uint32_t card_get(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline unsigned card_fats(const struct card *c)
{
    return c->is_exfat ? 1 : CARD_FATS;
}

static inline uint32_t card_fat_at(const struct card *c, unsigned fat)
{
    return (c->start + CARD_RESERVED + fat * CARD_FAT_SECTORS) * 512;
}

static inline uint32_t card_cluster_at(const struct card *c, uint32_t cluster)
{
    return (c->start + CARD_META + cluster - 2) * 512;
}

static inline void card_link(struct card *c, uint32_t cluster, uint32_t next)
{
    for (unsigned fat = 0; fat < card_fats(c); fat++)
        card_put(c->disk + card_fat_at(c, fat) + 4 * cluster, next, 4);
}

static inline void card_use(struct card *c, uint32_t cluster, unsigned owner)
{
    c->owner[cluster] = (uint16_t)owner;
    if (c->is_exfat)
        c->disk[card_cluster_at(c, c->bitmap) + (cluster - 2) / 8] |= (uint8_t)(1 << (cluster - 2) %
                                                                                         8);
}

/* Takes n clusters as a chain, in one piece or in pieces that go back and forth; returns the
 * first. */
static inline uint32_t card_take(struct card *c, uint32_t n, unsigned owner, bool pieces)
{
    uint32_t first = 0, last = 0, end = c->is_exfat ? 0xffffffff : 0x0fffffff;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = c->next + i;

        if (pieces) /* pairs of runs of four change places, and one of eight stays free */
            at = c->next + i / 8 * 12 + (i % 8 + 4) % 8;
        card_use(c, at, owner);
        if (last != 0)
            card_link(c, last, at);
        first = first == 0 ? at : first;
        last = at;
        card_link(c, at, end);
    }
    c->next += pieces ? (n + 7) / 8 * 12 : n;
    return first;
}

/* ---- entries --------------------------------------------------------------------------------- */

static inline uint8_t card_name_sum(const uint8_t *name83)
{
    uint8_t sum = 0;

    for (int i = 0; i < 11; i++)
        sum = (uint8_t)((uint8_t)(sum << 7 | sum >> 1) + name83[i]);
    return sum;
}

static inline uint32_t card_put_fat_entry(uint8_t *at, const char *name, uint8_t attributes,
                                          uint32_t cluster, uint32_t bytes, unsigned number)
{
    static const uint8_t offsets[13] = { 1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30 };
    unsigned n = (unsigned)strlen(name), parts = (n + 12) / 13;
    uint8_t *e = at + 32 * parts;
    char short_name[16];

    snprintf(short_name, sizeof short_name, "FILE%04u~%02u", number % 10000, number % 100);
    for (unsigned p = 0; p < parts; p++) {
        uint8_t *l = at + 32 * p;
        unsigned part = parts - p;

        memset(l, 0, 32);
        l[0] = (uint8_t)(part | (p == 0 ? 0x40 : 0));
        l[11] = 0x0f;
        l[13] = card_name_sum((const uint8_t *)short_name);
        for (unsigned i = 0; i < 13; i++) {
            unsigned u = (part - 1) * 13 + i;

            card_put(l + offsets[i], u < n ? (uint8_t)name[u] : u == n ? 0u : 0xffffu, 2);
        }
    }
    memset(e, 0, 32);
    memcpy(e, short_name, 11);
    e[11] = attributes;
    card_put(e + 20, cluster >> 16, 2);
    card_put(e + 26, cluster & 0xffff, 2);
    card_put(e + 28, bytes, 4);
    return 32 * (parts + 1);
}

static inline void card_sign_set(uint8_t *set)
{
    uint16_t sum = 0;

    for (unsigned i = 0; i < 32u * (set[1] + 1u); i++)
        if (i != 2 && i != 3)
            sum = (uint16_t)((sum << 15 | sum >> 1) + set[i]);
    card_put(set + 2, sum, 2);
}

static inline uint32_t card_put_set(uint8_t *at, const char *name, uint8_t attributes,
                                    uint32_t cluster, uint32_t bytes, bool contiguous)
{
    unsigned n = (unsigned)strlen(name), parts = (n + 14) / 15;

    memset(at, 0, 32 * (size_t)(parts + 2));
    at[0] = 0x85;
    at[1] = (uint8_t)(parts + 1);
    at[4] = attributes;
    at[32] = 0xc0;
    at[33] = contiguous ? 3 : 1;
    at[35] = (uint8_t)n;
    card_put(at + 40, bytes, 8);
    card_put(at + 52, cluster, 4);
    card_put(at + 56, bytes, 8);
    for (unsigned i = 0; i < n; i++)
        at[64 + i / 15 * 32 + 2 + i % 15 * 2] = (uint8_t)name[i];
    for (unsigned i = 0; i < parts; i++)
        at[64 + 32 * i] = 0xc1;
    card_sign_set(at);
    return 32 * (parts + 2);
}

static inline uint32_t card_put_entry(struct card *c, unsigned folder, const char *name,
                                      uint8_t attributes, uint32_t cluster, uint32_t bytes,
                                      bool contiguous, uint32_t *where)
{
    struct card_folder *f = &c->folders[folder];
    uint32_t n;

    *where = card_cluster_at(c, f->first) + f->next;
    if (c->is_exfat)
        n = card_put_set(c->disk + *where, name, attributes, cluster, bytes, contiguous);
    else
        n = card_put_fat_entry(c->disk + *where, name, attributes, cluster, bytes, f->next);
    f->next += n;
    return n;
}

/* ---- folders and files ------------------------------------------------------------------------ */

static inline unsigned card_add_folder(struct card *c, unsigned parent, const char *path,
                                       uint32_t n)
{
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    struct card_folder *f = &c->folders[c->n_folders];
    uint32_t where;

    *f = (struct card_folder){ .path = path, .n = n };
    f->first = card_take(c, n, OWNER_FOLDER + c->n_folders, false);
    if (c->n_folders != 0)
        (void)card_put_entry(c, parent, name, 0x10, f->first, c->is_exfat ? n * 512 : 0, false,
                             &where);
    if (c->n_folders != 0 && !c->is_exfat) {
        uint8_t *at = c->disk + card_cluster_at(c, f->first);

        memcpy(at, ".          ", 11);
        at[11] = 0x10;
        card_put(at + 26, f->first, 2);
        memcpy(at + 32, "..         ", 11);
        at[32 + 11] = 0x10;
        card_put(at + 32 + 26, parent == 0 ? 0 : c->folders[parent].first, 2);
        f->next = 64;
    }
    return c->n_folders++;
}

static inline void card_add_file(struct card *c, unsigned folder, const char *name, uint32_t bytes,
                                 bool pieces)
{
    struct card_file *f = &c->files[++c->n_files];

    snprintf(f->path, sizeof f->path, "%s%s%s", c->folders[folder].path, folder == 0 ? "" : "/",
             name);
    f->folder = folder;
    f->bytes = bytes;
    f->first = card_take(c, (bytes + 511) / 512, c->n_files, pieces);
    f->entry_bytes = card_put_entry(c, folder, name, 0x20, f->first, bytes, c->is_exfat && !pieces,
                                    &f->entry);
}

/* The file with that path; NULL: none. */
static inline struct card_file *card_find(struct card *c, const char *path)
{
    for (unsigned i = 1; i <= c->n_files; i++)
        if (strcmp(c->files[i].path, path) == 0)
            return &c->files[i];
    return NULL;
}

/* ---- the volume and its table ------------------------------------------------------------------ */

static inline void card_sign_boot(uint8_t *region)
{
    uint32_t sum = 0;

    for (unsigned i = 0; i < 11 * 512; i++)
        if (i != 106 && i != 107 && i != 112)
            sum = (sum << 31 | sum >> 1) + region[i];
    for (unsigned i = 0; i < 512; i += 4)
        card_put(region + 11 * 512 + i, sum, 4);
}

static inline void card_boot_exfat(struct card *c)
{
    uint8_t *b = c->disk + c->start * 512;

    memcpy(b,
           "\xeb\x76\x90"
           "EXFAT   ",
           11);
    card_put(b + 64, c->start, 8);
    card_put(b + 72, CARD_VOLUME, 8);
    card_put(b + 80, CARD_RESERVED, 4);
    card_put(b + 84, CARD_FAT_SECTORS, 4);
    card_put(b + 88, CARD_META, 4);
    card_put(b + 92, CARD_CLUSTERS, 4);
    card_put(b + 96, c->folders[0].first, 4);
    card_put(b + 104, 0x100, 2);
    b[108] = 9;
    b[110] = 1;
    b[510] = 0x55;
    b[511] = 0xaa;
    card_sign_boot(b);
    memcpy(b + 12 * 512, b, 12 * 512);
}

static inline void card_boot_fat32(struct card *c)
{
    uint8_t *b = c->disk + c->start * 512;

    memcpy(b,
           "\xeb\x58\x90"
           "TESTTEST",
           11);
    card_put(b + 11, 512, 2);
    b[13] = 1;
    card_put(b + 14, CARD_RESERVED, 2);
    b[16] = CARD_FATS;
    b[21] = 0xf8;
    card_put(b + 28, c->start, 4);
    card_put(b + 32, CARD_VOLUME, 4);
    card_put(b + 36, CARD_FAT_SECTORS, 4);
    card_put(b + 44, c->folders[0].first, 4);
    card_put(b + 48, 1, 2);
    card_put(b + 50, 6, 2);
    b[510] = 0x55;
    b[511] = 0xaa;
    card_put(b + 512, 0x41615252, 4);
    card_put(b + 512 + 484, 0x61417272, 4);
    card_put(b + 512 + 488, CARD_CLUSTERS / 2, 4);
    card_put(b + 512 + 492, 2, 4);
    card_put(b + 512 + 508, 0xaa550000, 4);
    memcpy(b + 6 * 512, b, 2 * 512);
}

static inline void card_sign_gpt(struct card *c)
{
    uint8_t *h = c->disk + 512;

    memset(h, 0, 512);
    memcpy(h, "EFI PART", 8);
    card_put(h + 8, 0x10000, 4);
    card_put(h + 12, 92, 4);
    card_put(h + 24, 1, 8);
    card_put(h + 72, CARD_GPT_TABLE, 8);
    card_put(h + 80, 16, 4);
    card_put(h + 84, 128, 4);
    card_put(h + 88, partitions_crc32(0, c->disk + CARD_GPT_TABLE * 512, 16 * 128), 4);
    card_put(h + 16, partitions_crc32(0, h, 92), 4);
}

static inline void card_put_table(struct card *c)
{
    static const uint32_t parts[3][2] = { { 40, CARD_START - 40 },
                                          { CARD_START, CARD_VOLUME },
                                          { CARD_START + CARD_VOLUME, CARD_BEHIND } };
    uint8_t *mbr = c->disk + 446, *gpt = c->disk + CARD_GPT_TABLE * 512;

    if (c->table == CARD_BARE)
        return;
    for (unsigned i = 0; i < 3; i++) {
        if (c->table == CARD_MBR) {
            mbr[16 * i + 4] = (uint8_t)(i != 1 ? 0x83 : c->is_exfat ? 0x07 : 0x0c);
            card_put(mbr + 16 * i + 8, parts[i][0], 4);
            card_put(mbr + 16 * i + 12, parts[i][1], 4);
        } else {
            memset(gpt + 128 * i, 0x5a, 32);
            card_put(gpt + 128 * i + 32, parts[i][0], 8);
            card_put(gpt + 128 * i + 40, parts[i][0] + parts[i][1] - 1, 8);
        }
    }
    if (c->table == CARD_GPT) {
        mbr[4] = 0xee;
        card_put(mbr + 8, 1, 4);
        card_put(mbr + 12, CARD_DISK - 1, 4);
        card_sign_gpt(c);
    }
    card_put(c->disk + 510, 0xaa55, 2);
}

/* exFAT: the bitmap in cluster 2, before anything is taken, and the table of upper case; their
 * entries begin the root. */
static inline void card_put_tables(struct card *c)
{
    uint8_t *root;
    uint32_t upcase;

    if (!c->is_exfat)
        return;
    upcase = card_take(c, 1, OWNER_TABLES, false);
    root = c->disk + card_cluster_at(c, c->folders[0].first);
    root[0] = 0x81;
    card_put(root + 20, c->bitmap, 4);
    card_put(root + 24, (CARD_CLUSTERS + 7) / 8, 8);
    root[32] = 0x82;
    card_put(root + 52, upcase, 4);
    card_put(root + 56, 64, 8);
    c->folders[0].next = 64;
}

static inline void card_fill(struct card *c)
{
    for (uint32_t i = 0; i < CARD_DISK * 512u;
         i += 8) /* each place contains its number, so that no move is lost */
        card_put(c->disk + i, i * 2654435761u ^ 0x5eed0000u, 8);
    memset(c->disk, 0, 40 * 512);
    memset(c->disk + c->start * 512, 0, CARD_META * 512);
}

/* Makes a card whose saves have so many bytes. */
static inline void card_make(struct card *c, bool is_exfat, enum card_table table,
                             uint32_t save_bytes)
{
    memset(c, 0, sizeof *c);
    c->is_exfat = is_exfat;
    c->table = table;
    c->start = table == CARD_BARE ? 0 : CARD_START;
    card_fill(c);
    card_link(c, 0, is_exfat ? 0xfffffff8 : 0x0ffffff8);
    card_link(c, 1, is_exfat ? 0xffffffff : 0x0fffffff);
    c->next = c->bitmap = 2;
    if (is_exfat) {
        memset(c->disk + card_cluster_at(c, 2), 0, 512);
        (void)card_take(c, 1, OWNER_TABLES, false);
    }
    memset(c->disk + card_cluster_at(c, c->next), 0, 40 * 512);
    (void)card_add_folder(c, 0, "", 4);
    card_put_tables(c);
    (void)card_add_folder(c, 0, "models", 2);
    (void)card_add_folder(c, 0, "saves", 2);
    (void)card_add_folder(c, 0, "presets", 2);
    (void)card_add_folder(c, 0, "adapters", 2);
    (void)card_add_folder(c, 0, "deep", 2);
    (void)card_add_folder(c, 5, "deep/er", 1);
    card_add_file(c, 0, "notes.txt", 700, false);
    card_add_file(c, 1, "a.ingot", 60000, false);
    card_add_file(c, 2, "chat.sav", save_bytes, true);
    card_add_file(c, 0, "ingot.log", 20480, false);
    card_add_file(c, 1, "b.ingot", 30000, true);
    card_add_file(c, 3, "old.txt", 3000, true);
    card_add_file(c, 0, "ingot.prefix", save_bytes, false);
    card_add_file(c, 4, "x.ingot", 9000, false);
    card_add_file(c, 1, "a.use", 4096, false);
    card_add_file(c, 6, "far.bin", 20000, true);
    card_add_file(c, 0, "ingot.kv", 40960, true);
    card_add_file(c, 3, "other.txt", 512, false);
    if (is_exfat)
        card_boot_exfat(c);
    else
        card_boot_fat32(c);
    card_put_table(c);
}

#endif
