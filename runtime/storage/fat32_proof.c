/* Section names are those of Microsoft's FAT32 File System Specification 1.03 and of its exFAT
 * specification. */
#include "runtime/storage/fat32_proof.h"

#include <string.h>

#include "runtime/storage/exfat.h"
#include "runtime/storage/fat32_chain.h"
#include "runtime/storage/fat32_volume.h"
#include "runtime/storage/fat32_walk.h"
#include "runtime/storage/fat32_write.h"
#include "runtime/text/format_text.h"

enum {
    LEAST_READS = 16384,    /* reads that every walk may take; CLUSTERS_A_READ allows more */
    CLUSTERS_A_READ = 2048, /* a walk may take one more read for this many clusters; a read brings
                             * 4096 entries of the FAT */
    BPB_BEGIN = 11,         /* a boot sector and its copy must have equal BPBs */
    BPB_DISK = 24,          /* the BPBs may differ here, in the BIOS's number of the disk */
    BPB_DISK_END = 32,
    BPB_END = 52,
    BPB_MEDIA = 21,
    BS_RESERVED1 = 65, /* Linux and Windows NT set its lowest bit while the volume is in use */
    BS_IN_USE = 1,
    FAT_CLEAN = 1 << 27, /* of FAT[1] */
    FAT_NO_ERRORS = 1 << 26,
    EXFAT_VOLUME_FLAGS = 106,
    EXFAT_DIRTY = 2,
    MOST_PATH = 2 * FAT32_NEW_NAME_BYTES,
};

/* ---- the volume ---------------------------------------------------------------------------- */

static enum err fat_entry(struct fat32 *fs, uint32_t fat, uint32_t nth, uint32_t *out)
{
    const uint8_t *sector;
    enum err e = fat32_fetch_sector(fs, fs->fat_sector + fat * fs->fat_sectors, &sector);

    if (e == ERR_OK)
        *out = fat32_u32(sector + 4 * nth) & fs->entry_mask;
    return e;
}

/* Check the FAT's first entries. FAT[0] has the media byte and FAT[1] two flags; with other values,
 * this is not the FAT. Zeros are accepted, because some tools leave them. */
static enum err check_fat(struct fat32_proof *p, uint8_t media)
{
    uint32_t first = 0, second = 0, other = 0;
    enum err e = fat_entry(p->fs, 0, 0, &first);

    if (e == ERR_OK)
        e = fat_entry(p->fs, 0, 1, &second);
    if (e != ERR_OK || (first == 0 && second == 0))
        return e;
    p->is_dirty = p->is_dirty || (second & FAT_CLEAN) == 0;
    /* The two flags may have either value. */
    second |= FAT_CLEAN | FAT_NO_ERRORS;
    if (first != (0x0fffff00u | media) || second < p->fs->chain_end)
        return fat32_damaged(p->fs, "the first entries of the FAT are wrong");
    for (uint32_t fat = 1; fat <= p->fs->n_mirrors; fat++) {
        e = fat_entry(p->fs, fat, 0, &other);
        if (e != ERR_OK)
            return e;
        if (other != first)
            return fat32_damaged(p->fs, "the copies of the FAT begin differently");
    }
    return ERR_OK;
}

/* fsck.vfat -a leaves this damage as it is. */
static enum err copy_differs(struct fat32 *fs)
{
    return fat32_fail(fs, ERR_BAD_FILESYSTEM,
                      "the boot sector and its copy differ: nothing is written to the file system "
                      "until fsck.vfat -r has copied the original to the backup on a computer");
}

static enum err check_fat32(struct fat32_proof *p)
{
    struct fat32 *fs = p->fs;
    uint8_t boot[BPB_END];
    const uint8_t *at;
    enum err e = fat32_fetch_sector(fs, fs->first_sector, &at);

    if (e != ERR_OK)
        return e;
    memcpy(boot, at, sizeof boot); /* the buffer will be reused */
    p->is_dirty = (at[BS_RESERVED1] & BS_IN_USE) != 0;
    if (fs->copy_sector != 0) {
        e = fat32_fetch_sector(fs, fs->copy_sector, &at);
        if (e != ERR_OK)
            return e;
        /* Compare all bytes except those that some tools set in only one sector. */
        if (memcmp(at + BPB_BEGIN, boot + BPB_BEGIN, BPB_DISK - BPB_BEGIN) != 0 ||
            memcmp(at + BPB_DISK_END, boot + BPB_DISK_END, BPB_END - BPB_DISK_END) != 0)
            return copy_differs(fs);
    }
    return check_fat(p, boot[BPB_MEDIA]);
}

/* The clusters of the bitmap and of the upper-case table must not belong to a file. */
static enum err visit_exfat_table(struct fat32_proof *p, uint32_t cluster, uint64_t bytes)
{
    struct fat32_entry *x = &p->entry;

    memset(x, 0, sizeof *x);
    x->cluster = cluster;
    x->bytes = bytes;
    return fat32_visit_chain(p, x);
}

static enum err check_exfat(struct fat32_proof *p)
{
    struct fat32 *fs = p->fs;
    struct exfat_tables tables;
    const uint8_t *boot;
    enum err e = fat32_fetch_sector(fs, fs->first_sector, &boot);

    if (e != ERR_OK)
        return e;
    p->is_dirty = (boot[EXFAT_VOLUME_FLAGS] & EXFAT_DIRTY) != 0;
    /* "Allocation Bitmap Directory Entry" and "Up-case Table". */
    e = fat32_name_damage(fs, exfat_find_tables(fs, &tables));
    if (e == ERR_NOT_FOUND || (e == ERR_OK && tables.bitmap_bytes < (fs->n_clusters + 7ull) / 8))
        return fat32_damaged(fs, "the bitmap of clusters is missing");
    if (e == ERR_OK)
        e = visit_exfat_table(p, tables.bitmap_cluster, tables.bitmap_bytes);
    if (e == ERR_OK) {
        p->entry.name[0] = '\0';
        e = fat32_name_damage(fs, fat32_open_file(fs, &p->entry, NULL, &p->file));
    }
    if (e == ERR_OK && tables.upcase_cluster != 0)
        e = visit_exfat_table(p, tables.upcase_cluster, tables.upcase_bytes);
    return e;
}

/* On exFAT, check that the bitmap calls each of these clusters used. Otherwise other systems may
 * write there. */
static enum err check_bits(struct fat32_proof *p, const struct file_extent *run)
{
    struct fat32 *fs = p->fs;
    uint64_t bit = (run->sector - fs->data_sector) / fs->cluster_sectors;
    uint64_t end = bit + run->n_sectors / fs->cluster_sectors;
    const uint8_t *sector = NULL;

    for (bool first = true; bit < end; bit++, first = false) {
        uint64_t at = bit / 8;

        /* Each sector of the bitmap is read once. */
        if (first || bit % (8 * SECTOR_BYTES) == 0) {
            enum err e = fat32_fetch_sector(fs, file_sector(&p->file, at), &sector);

            if (e != ERR_OK)
                return e;
        }
        if ((sector[at % SECTOR_BYTES] >> bit % 8 & 1) == 0)
            return fat32_damaged(fs, "a file's clusters are free in the bitmap");
    }
    return ERR_OK;
}

static enum err check_bitmap(struct fat32_proof *p)
{
    enum err e = ERR_OK;

    for (unsigned i = 0; p->fs->is_exfat && i < p->n_claims; i++)
        for (uint32_t x = 0; e == ERR_OK && x < p->claims[i].n; x++)
            e = check_bits(p, &p->claims[i].extents[x]);
    return e;
}

static void begin(struct fat32_proof *p, struct fat32 *fs)
{
    memset(p, 0, sizeof *p);
    p->fs = fs;
    p->first_read = fs->n_reads;
    p->last_read = fs->n_reads + LEAST_READS + fs->n_clusters / CLUSTERS_A_READ;
}

/* Run the walk with the claims made so far. */
static enum err prove(struct fat32_proof *p)
{
    enum err e;

    /* Check the volume, the bitmap, then every file and folder. */
    p->clusters = 0;
    e = p->fs->is_exfat ? check_exfat(p) : check_fat32(p);
    if (e == ERR_OK)
        e = check_bitmap(p);
    return e == ERR_OK ? fat32_walk(p) : e;
}

/* ---- claims -------------------------------------------------------------------------------- */

static enum err read_only(struct fat32 *fs, const char *name)
{
    format_text(
        fs->text, sizeof fs->text,
        "%.80s has the attribute read-only, so that it is not written: take the attribute away "
        "on a computer",
        name);
    return fat32_fail(fs, ERR_UNSUPPORTED, fs->text);
}

static void claim(struct fat32_proof *p, const struct file *file)
{
    p->claims[p->n_claims++] = (struct fat32_claim){ .extents = file_extents(file),
                                                     .n = file->n_extents,
                                                     .first = fat32_first_cluster(p->fs, file) };
}

/* Claim a file, whose chain must be as long as the file. */
static enum err claim_file(struct fat32_proof *p, const struct fat32_entry *entry,
                           const struct file *file)
{
    enum err e = fat32_visit_chain(p, entry);

    if (e == ERR_OK && !p->gave_up && p->length != fat32_clusters_of(p->fs, entry->bytes))
        return fat32_damaged(p->fs, "a chain of clusters is longer than its file");
    if (e == ERR_OK && file->n_extents != 0)
        claim(p, file);
    return e;
}

enum err fat32_prove_file(struct fat32_proof *p, struct fat32 *fs, const struct fat32_entry *entry,
                          const struct file *file)
{
    enum err e;

    fs->why = NULL;
    begin(p, fs);
    if (entry->read_only)
        return read_only(fs, entry->name);
    e = claim_file(p, entry, file);
    return e == ERR_OK ? prove(p) : e;
}

/* Set *entry to the folder whose entries will change, which is the root if there is no folder of
 * that name yet. */
static enum err find_folder(struct fat32_proof *p, const char *folder, struct fat32_entry *entry)
{
    enum err e = fat32_find(p->fs, folder, entry);

    if (e == ERR_NOT_FOUND) {
        memset(entry, 0, sizeof *entry);
        entry->cluster = p->fs->root_cluster;
        entry->is_directory = true;
        e = ERR_OK;
    }
    if (e == ERR_OK && !entry->is_directory) {
        format_text(p->fs->text, sizeof p->fs->text, "%.80s is a file, not a folder", folder);
        return fat32_fail(p->fs, ERR_BAD_ARGUMENT, p->fs->text);
    }
    return e;
}

/* List the folder's clusters in the rest of the table, and claim them. */
static enum err claim_folder(struct fat32_proof *p, const struct fat32_entry *folder,
                             const struct file_table *table)
{
    struct fat32_entry *x = &p->entry;
    struct file_table rest = { table->extents + p->file.n_extents,
                               table->most - p->file.n_extents };
    enum err e = fat32_visit_chain(p, folder);

    if (e != ERR_OK || p->gave_up)
        return e;
    /* Treat the folder as a file that is as long as its chain. */
    *x = *folder;
    x->is_directory = false;
    x->bytes = p->length * p->fs->cluster_sectors * SECTOR_BYTES;
    e = fat32_name_damage(p->fs, fat32_open_file(p->fs, x, &rest, &p->folder));
    if (e == ERR_OK)
        claim(p, &p->folder);
    return e;
}

/* Claim the existing file of that name, if there is one. */
static enum err claim_old(struct fat32_proof *p, const char *folder, const char *name,
                          const struct file_table *table)
{
    struct fat32 *fs = p->fs;
    struct fat32_entry *old = &p->old;
    char path[MOST_PATH];
    enum err e;

    format_text(path, sizeof path, "%s/%s", folder, name);
    e = fat32_find(fs, path, old);
    /* Nothing is replaced, so nothing more is claimed. */
    if (e == ERR_NOT_FOUND)
        return ERR_OK;
    if (e == ERR_OK && old->is_directory)
        return fat32_fail(fs, ERR_BAD_ARGUMENT, "a folder has that name");
    if (e == ERR_OK && old->read_only)
        return read_only(fs, old->name);
    if (e == ERR_OK)
        e = fat32_open_file(fs, old, table, &p->file);
    if (e != ERR_OK)
        return fat32_name_damage(fs, e);
    return claim_file(p, old, &p->file);
}

enum err fat32_prove_new(struct fat32_proof *p, struct fat32 *fs, const char *folder,
                         const char *name, const struct file_table *table)
{
    struct fat32_entry *parent = &p->entry;
    enum err e;

    fs->why = NULL;
    begin(p, fs);
    p->is_strict = true;
    e = claim_old(p, folder, name, table);
    if (e == ERR_OK)
        e = find_folder(p, folder, parent);
    /* The folder also changes, so its clusters must be its own. */
    if (e == ERR_OK) {
        p->old = *parent;
        e = claim_folder(p, &p->old, table);
    }
    return e == ERR_OK ? prove(p) : fat32_name_damage(fs, e);
}
