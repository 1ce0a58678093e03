/* Fields have the names of the UEFI Specification 2.10, section 5.3. */
#include "runtime/storage/partitions.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/storage/fat32.h"
#include "runtime/storage/fat32_volume.h"

enum {
    MBR_TABLE = 446,
    MBR_ENTRY = 16,
    MBR_ENTRIES = 4,
    MBR_SIGNATURE = 510,
    MBR_TYPE = 4,
    MBR_START = 8,
    MBR_SECTORS = 12,
    TYPE_FAT32_CHS = 0x0b,
    TYPE_FAT32_LBA = 0x0c,
    TYPE_EXFAT = 0x07, /* also used for NTFS */
    TYPE_GPT = 0xee,
    TYPE_EXTENDED_CHS = 0x05,
    TYPE_EXTENDED_LBA = 0x0f,
    TYPE_EXTENDED_LINUX = 0x85,
    LOGICAL_MOST = 64, /* the most logical partitions that are looked at */
};

enum { /* the header, byte offsets */
       GPT_REVISION = 8,
       GPT_HEADER_SIZE = 12,
       GPT_HEADER_CRC32 = 16,
       GPT_MY_LBA = 24,
       GPT_ENTRY_LBA = 72,
       GPT_N_ENTRIES = 80,
       GPT_ENTRY_SIZE = 84,
       GPT_ENTRIES_CRC32 = 88,
       GPT_LEAST_HEADER = 92,
};

enum {
    GPT_ENTRY_LEAST = 128, /* entries have 128 * 2^n bytes, here at most a sector, so that none lies
                            * in two */
    GPT_ENTRIES_MOST = 1024,
    GPT_FIRST_LBA = 32, /* byte offsets in an entry */
    GPT_LAST_LBA = 40,
    BIG_BLOCK = 4096 / SECTOR_BYTES,
};

/* The fields of a header that describe its table. */
struct gpt {
    uint64_t sector; /* the table's first sector */
    uint32_t block;  /* sectors of an LBA */
    uint32_t n_entries, entry_bytes, crc;
};

uint32_t partitions_crc32(uint32_t crc, const uint8_t *data, uint32_t bytes)
{
    crc = ~crc;
    for (uint32_t i = 0; i < bytes; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/* Return the other of the two possible block sizes of disks, in sectors. */
static uint32_t other_block(uint32_t block)
{
    return block == 1 ? BIG_BLOCK : 1;
}

/* Return the sector of an LBA, or 0 if it is beyond the device. */
static uint64_t lba_sector(const struct fat32 *fs, uint64_t lba, uint32_t block)
{
    if (lba >= fs->device.device->n_sectors / block)
        return 0;
    return lba * block;
}

/* Return the partition of n LBAs from `first` on. */
static struct partition place(const struct fat32 *fs, uint64_t first, uint64_t n, uint32_t block)
{
    uint64_t device = fs->device.device->n_sectors;
    struct partition p = { .sector = lba_sector(fs, first, block), .end = device };

    p.has_length = n != 0;
    /* A partition does not reach beyond the device's end. */
    if (p.has_length && n < (device - p.sector + block - 1) / block)
        p.end = p.sector + n * block;
    return p;
}

/* Limit partitions so that none reaches into a later one. If two lengths are given, the shorter
 * length counts. */
static void bound(struct partitions *all, const struct partition *other)
{
    for (unsigned i = 0; i < all->n; i++) {
        struct partition *p = &all->list[i];

        /* A guess was computed with another block size, so only other guesses limit it. */
        if (p->is_guess != other->is_guess || p->sector == 0)
            continue;
        if (other->sector > p->sector && other->sector < p->end)
            p->end = other->sector;
        if (other->sector == p->sector && other->has_length && other->end < p->end)
            p->end = other->end;
    }
}

/* ---- GPT ----------------------------------------------------------------------------------- */

static uint32_t header_crc(const uint8_t *header, uint32_t bytes)
{
    static const uint8_t zeros[4];
    uint32_t crc = partitions_crc32(0, header, GPT_HEADER_CRC32);

    crc = partitions_crc32(crc, zeros, sizeof zeros);
    return partitions_crc32(crc, header + GPT_HEADER_CRC32 + 4, bytes - GPT_HEADER_CRC32 - 4);
}

/* Check the header in a sector. The checksum comes first, before the header's fields are used. */
static enum err gpt_check_header(struct fat32 *fs, const uint8_t *h, uint64_t sector, struct gpt *g)
{
    uint32_t bytes = fat32_u32(h + GPT_HEADER_SIZE);
    const char *why = NULL;

    g->n_entries = fat32_u32(h + GPT_N_ENTRIES);
    g->entry_bytes = fat32_u32(h + GPT_ENTRY_SIZE);
    g->crc = fat32_u32(h + GPT_ENTRIES_CRC32);
    g->sector = lba_sector(fs, fat32_u64(h + GPT_ENTRY_LBA), g->block);
    if (memcmp(h, "EFI PART", 8) != 0)
        why = "GPT: its header is not there: partition the disk anew";
    else if (bytes < GPT_LEAST_HEADER || bytes > SECTOR_BYTES)
        why = "GPT: HeaderSize is out of bounds: partition the disk anew";
    else if (header_crc(h, bytes) != fat32_u32(h + GPT_HEADER_CRC32))
        why = "GPT: the header's checksum is wrong: partition the disk anew";
    else if (fat32_u32(h + GPT_REVISION) >> 16 != 1)
        why = "GPT: Revision is not 1: partition the disk anew";
    else if (lba_sector(fs, fat32_u64(h + GPT_MY_LBA), g->block) != sector)
        why = "GPT: MyLBA is not where the header lies: partition the disk anew";
    else if (g->n_entries == 0 || g->n_entries > GPT_ENTRIES_MOST)
        why = "GPT: NumberOfPartitionEntries is not 1 to 1024: partition the disk anew";
    else if (g->entry_bytes != GPT_ENTRY_LEAST && g->entry_bytes != 2 * GPT_ENTRY_LEAST &&
             g->entry_bytes != SECTOR_BYTES)
        why = "GPT: SizeOfPartitionEntry is not 128, 256 or 512: partition the disk anew";
    else if (g->sector == 0)
        why = "GPT: PartitionEntryLBA is not on the disk: partition the disk anew";
    if (why != NULL)
        return fat32_fail(fs, ERR_BAD_FILESYSTEM, why);
    return ERR_OK;
}

static enum err gpt_check_table(struct fat32 *fs, const struct gpt *g)
{
    uint32_t left = g->n_entries * g->entry_bytes, crc = 0;
    const uint8_t *at;

    for (uint64_t sector = g->sector; left > 0; sector++) {
        /* The last sector of the table may be used only in part. */
        uint32_t n = min_u32(left, SECTOR_BYTES);
        enum err e = fat32_fetch_sector(fs, sector, &at);

        if (e != ERR_OK)
            return e;
        crc = partitions_crc32(crc, at, n);
        left -= n;
    }
    if (crc != g->crc)
        return fat32_fail(fs, ERR_BAD_FILESYSTEM,
                          "GPT: the checksum of its table is wrong: partition the disk anew");
    return ERR_OK;
}

/* Read the header at this sector, and the header's table. An LBA has `block` sectors. */
static enum err gpt_read(struct fat32 *fs, uint64_t sector, uint32_t block, struct gpt *g)
{
    const uint8_t *at;
    enum err e = fat32_fetch_sector(fs, sector, &at);

    g->block = block;
    if (e == ERR_OK)
        e = gpt_check_header(fs, at, sector, g);
    if (e == ERR_OK)
        e = gpt_check_table(fs, g);
    return e;
}

/* Find the GPT. Try the header for the device's block size, then its copy in the last block. If a
 * disk was copied between devices with different blocks, its header is elsewhere, so try both also
 * with the other block size. */
static enum err gpt_find(struct fat32 *fs, struct gpt *g)
{
    uint64_t end = fs->device.device->n_sectors;
    uint32_t own = block_device_block_sectors(fs->device.device);
    uint32_t blocks[2] = { own, other_block(own) };
    enum err first = ERR_OK;
    const char *why = NULL;

    for (unsigned i = 0; i < 4; i++) {
        uint32_t block = blocks[i / 2];
        /* The header is in LBA 1, or in the device's last LBA. */
        uint64_t sector = i % 2 == 0 ? block : (end / block - 1) * block;
        enum err e = ERR_TRUNCATED;

        if (end >= 3 * (uint64_t)block)
            e = gpt_read(fs, sector, block, g);
        if (e == ERR_OK || e == ERR_TIMEOUT)
            return e;
        if (i == 0) { /* keep the message about the first header */
            first = e;
            why = fs->why != NULL ? fs->why : "GPT: the disk is too small for one";
        }
    }
    return fat32_fail(fs, first, why);
}

static bool is_zero(const uint8_t *p, unsigned bytes)
{
    uint8_t any = 0;

    for (unsigned i = 0; i < bytes; i++)
        any |= p[i];
    return any == 0;
}

/* Read an entry of the table. Returns NULL if the entry is unused. */
static enum err gpt_entry(struct fat32 *fs, const struct gpt *g, uint32_t nth, const uint8_t **out)
{
    uint32_t at = nth * g->entry_bytes;
    enum err e = fat32_fetch_sector(fs, g->sector + at / SECTOR_BYTES, out);

    if (e != ERR_OK)
        return e;
    *out += at % SECTOR_BYTES;
    if (is_zero(*out, 16)) /* its type */
        *out = NULL;
    return ERR_OK;
}

static struct partition gpt_partition(const struct fat32 *fs, const struct gpt *g,
                                      const uint8_t *entry)
{
    uint64_t first = fat32_u64(entry + GPT_FIRST_LBA), last = fat32_u64(entry + GPT_LAST_LBA);

    return place(fs, first, last >= first ? last - first + 1 : 0, g->block);
}

static enum err gpt_list(struct fat32 *fs, struct partitions *out)
{
    struct gpt g = { 0 };
    const uint8_t *entry;
    enum err e = gpt_find(fs, &g);

    for (uint32_t i = 0; e == ERR_OK && i < g.n_entries && out->n < PARTITIONS_MOST; i++) {
        e = gpt_entry(fs, &g, i, &entry);
        if (e == ERR_OK && entry != NULL)
            out->list[out->n++] = gpt_partition(fs, &g, entry);
    }
    /* Read all entries, because even entries that are not listed limit others. */
    for (uint32_t i = 0; e == ERR_OK && i < g.n_entries; i++) {
        e = gpt_entry(fs, &g, i, &entry);
        if (e == ERR_OK && entry != NULL) {
            struct partition other = gpt_partition(fs, &g, entry);

            out->n_all++;
            bound(out, &other);
        }
    }
    return e;
}

/* ---- MBR ----------------------------------------------------------------------------------- */

static bool is_fat32_type(uint8_t type)
{
    return type == TYPE_FAT32_CHS || type == TYPE_FAT32_LBA;
}

/* Return true if FAT32 or exFAT usually has this type. Only partitions of such types get a message
 * if they have no volume. */
static bool is_usual_type(uint8_t type)
{
    return is_fat32_type(type) || type == TYPE_EXFAT;
}

/* Read an entry whose LBAs count blocks of `block` sectors. Returns false if it is unused. */
static bool mbr_partition(const struct fat32 *fs, const uint8_t *entry, uint32_t block,
                          bool is_guess, struct partition *out)
{
    uint32_t start = fat32_u32(entry + MBR_START);
    uint8_t type = entry[MBR_TYPE];

    *out = place(fs, start, fat32_u32(entry + MBR_SECTORS), block);
    out->is_guess = is_guess;
    out->is_fat32 = is_fat32_type(type) && !is_guess;
    /* Skip the entry that keeps old tools away, and empty entries. */
    if (type == TYPE_GPT || (type == 0 && start == 0))
        return false;
    return out->sector != 0 || (is_usual_type(type) && !is_guess);
}

/* List the types that are usual for FAT32 or exFAT before the others. */
static void mbr_list(const struct fat32 *fs, const uint8_t table[MBR_ENTRIES * MBR_ENTRY],
                     uint32_t block, bool is_guess, struct partitions *out)
{
    struct partition p;

    /* First list the usual types, then the others. */
    for (unsigned i = 0; i < 2 * MBR_ENTRIES && out->n < PARTITIONS_MOST; i++) {
        const uint8_t *entry = table + i % MBR_ENTRIES * MBR_ENTRY;

        if (is_usual_type(entry[MBR_TYPE]) == (i < MBR_ENTRIES) &&
            mbr_partition(fs, entry, block, is_guess, &p))
            out->list[out->n++] = p;
    }
    for (unsigned i = 0; i < MBR_ENTRIES; i++)
        if (mbr_partition(fs, table + i * MBR_ENTRY, block, is_guess, &p))
            bound(out, &p);
}

static bool is_extended_type(uint8_t type)
{
    return type == TYPE_EXTENDED_CHS || type == TYPE_EXTENDED_LBA || type == TYPE_EXTENDED_LINUX;
}

/* List a logical partition, whose entry counts from `table`. */
static void add_logical(const struct fat32 *fs, const uint8_t *entry, uint64_t table,
                        uint32_t block, struct partitions *out)
{
    uint32_t first = fat32_u32(entry + MBR_START);
    struct partition p = place(fs, table + first, fat32_u32(entry + MBR_SECTORS), block);

    p.is_fat32 = is_fat32_type(entry[MBR_TYPE]);
    if (entry[MBR_TYPE] == 0 || first == 0 || p.sector == 0)
        return;
    if (out->n < PARTITIONS_MOST)
        out->list[out->n++] = p;
    bound(out, &p);
}

/* List the logical partitions of the extended partition at LBA `start`. Each has a table of its
 * own, whose second entry names the next table and counts from `start`. A table that cannot be read
 * ends the list; only ERR_TIMEOUT is returned, because a silent device is not asked again. */
static enum err list_logical(struct fat32 *fs, uint64_t start, uint32_t block,
                             struct partitions *out)
{
    uint32_t at = 0, next = 0;
    uint8_t entries[2 * MBR_ENTRY];
    const uint8_t *sector;

    for (unsigned i = 0; i < LOGICAL_MOST && (i == 0 || next > at); i++) {
        struct partition own = { .sector = lba_sector(fs, start + next, block) };
        enum err e = own.sector == 0 ? ERR_NOT_FOUND : fat32_fetch_sector(fs, own.sector, &sector);

        if (e != ERR_OK || sector[MBR_SIGNATURE] != 0x55 || sector[MBR_SIGNATURE + 1] != 0xaa)
            return e == ERR_TIMEOUT ? e : ERR_OK;
        memcpy(entries, sector + MBR_TABLE, sizeof entries); /* the buffer will be reused */
        at = next;
        bound(out, &own); /* no partition reaches over the table */
        add_logical(fs, entries, start + at, block, out);
        next = 0;
        if (is_extended_type(entries[MBR_ENTRY + MBR_TYPE]))
            next = fat32_u32(entries + MBR_ENTRY + MBR_START);
    }
    return ERR_OK;
}

static void note_types(const uint8_t table[MBR_ENTRIES * MBR_ENTRY], struct partitions *out)
{
    for (unsigned i = 0; i < MBR_ENTRIES; i++)
        if (table[i * MBR_ENTRY + MBR_TYPE] != 0)
            out->types[out->n_types++] = table[i * MBR_ENTRY + MBR_TYPE];
}

enum err partitions_find(struct fat32 *fs, struct partitions *out)
{
    uint32_t block = block_device_block_sectors(fs->device.device);
    uint8_t table[MBR_ENTRIES * MBR_ENTRY];
    const uint8_t *sector;
    bool has_gpt = false;
    enum err e = fat32_fetch_sector(fs, 0, &sector);

    memset(out, 0, sizeof *out);
    if (e != ERR_OK)
        return e;
    memcpy(table, sector + MBR_TABLE, sizeof table); /* the buffer will be reused */
    note_types(table, out);
    for (unsigned i = 0; i < out->n_types; i++)
        has_gpt = has_gpt || out->types[i] == TYPE_GPT;
    if (has_gpt)
        e = gpt_list(fs, out);
    /* A hybrid MBR repeats some of the GPT's partitions, and may still be valid if the GPT is
     * damaged. An MBR does not say which blocks it counts, so try the blocks of a disk from which
     * it may have been copied last. */
    mbr_list(fs, table, block, false, out);
    for (unsigned i = 0; i < MBR_ENTRIES && e == ERR_OK; i++)
        if (is_extended_type(table[i * MBR_ENTRY + MBR_TYPE]))
            e = list_logical(fs, fat32_u32(table + i * MBR_ENTRY + MBR_START), block, out);
    mbr_list(fs, table, other_block(block), true, out);
    return e;
}
