/* Walks over a volume's chains and folders. Section names are those of Microsoft's FAT32 File
 * System Specification 1.03 and of its exFAT specification. */
#include "runtime/storage/fat32_walk.h"

#include <string.h>

#include "runtime/storage/exfat.h"
#include "runtime/storage/fat32_volume.h"
#include "runtime/text/format_text.h"

enum { RAW_CLUSTER_LOW = 26 /* this field is zero in a part of a long name */ };

static const char shared[] = "two files have the same clusters";

static const char *repairer(const struct fat32 *fs)
{
    return fs->is_exfat ? "fsck.exfat -y" : "fsck.vfat -a";
}

enum err fat32_damaged(struct fat32 *fs, const char *what)
{
    format_text(
        fs->text, sizeof fs->text,
        "the file system is damaged (%s): nothing is written to it until %s has repaired it "
        "on a computer",
        what, repairer(fs));
    return fat32_fail(fs, ERR_BAD_FILESYSTEM, fs->text);
}

enum err fat32_name_damage(struct fat32 *fs, enum err e)
{
    const char *why = fs->why;

    if (e != ERR_BAD_FILESYSTEM || why == fs->text || why == NULL)
        return e;
    return fat32_damaged(fs, why);
}

uint64_t fat32_clusters_of(const struct fat32 *fs, uint64_t bytes)
{
    uint64_t cluster_bytes = (uint64_t)fs->cluster_sectors * SECTOR_BYTES;

    return bytes / cluster_bytes + (bytes % cluster_bytes != 0);
}

/* ---- chains -------------------------------------------------------------------------------- */

/* Add the next n clusters of the chain that begins at `chain`. No cluster may belong to another
 * chain. */
static enum err add_run(struct fat32_proof *p, uint32_t chain, uint32_t first, uint64_t n)
{
    uint64_t sector = fat32_cluster_sector(p->fs, first), end = sector + n * p->fs->cluster_sectors;

    p->clusters += n;
    p->length += n;
    if (p->clusters > p->fs->n_clusters)
        return fat32_damaged(p->fs, shared);
    for (unsigned i = 0; i < p->n_claims; i++) {
        const struct fat32_claim *c = &p->claims[i];

        if (c->first == chain)
            continue; /* the claim is for this chain */
        for (uint32_t x = 0; x < c->n; x++)
            if (sector < c->extents[x].sector + c->extents[x].n_sectors &&
                c->extents[x].sector < end)
                return fat32_damaged(p->fs, shared);
    }
    return ERR_OK;
}

/* Follow a chain to its end. Brent's method finds a cycle, because the cluster reached after 2^k
 * steps comes again. */
static enum err follow(struct fat32_proof *p, uint32_t first)
{
    uint32_t at = first, begin = first, mark = first, next;
    uint64_t steps = 0, power = 1;
    enum err e = ERR_OK;

    while (e == ERR_OK && at != 0) {
        p->gave_up = p->fs->n_reads >= p->last_read;
        if (p->gave_up)
            return ERR_OK;
        e = fat32_name_damage(p->fs, fat32_next_cluster(p->fs, at, &next));
        if (e != ERR_OK)
            return e;
        if (next == mark)
            return fat32_damaged(p->fs, "a chain of clusters is cyclic");
        if (++steps == power) {
            mark = next;
            power *= 2;
        }
        if (next != at + 1) {
            e = add_run(p, first, begin, at - begin + 1u);
            begin = next;
        }
        at = next;
    }
    return e;
}

enum err fat32_visit_chain(struct fat32_proof *p, const struct fat32_entry *x)
{
    uint64_t needed = fat32_clusters_of(p->fs, x->bytes);
    enum err e;

    if (x->is_directory && needed == 0)
        needed = 1; /* exFAT reads a folder's first cluster whatever the folder's length is */
    p->length = 0;
    if (x->cluster == 0 && x->bytes == 0 && !x->is_directory)
        return ERR_OK;
    if (!fat32_is_cluster(p->fs, x->cluster))
        return fat32_damaged(p->fs, "an entry of a folder leads out of the volume");
    for (unsigned i = 0; i < p->n_claims; i++)
        if (p->claims[i].first == x->cluster && ++p->claims[i].owners > 1)
            return fat32_damaged(p->fs, shared);
    if (!x->contiguous)
        e = follow(p, x->cluster);
    else if (needed > p->fs->n_clusters - (x->cluster - 2))
        return fat32_damaged(p->fs, "an entry of a folder leads out of the volume");
    else
        e = add_run(p, x->cluster, x->cluster, needed);
    if (e == ERR_OK && !p->gave_up && p->length < needed)
        return fat32_damaged(p->fs, "a chain of clusters is shorter than its file");
    return e;
}

/* ---- folders ------------------------------------------------------------------------------- */

static uint32_t raw_cluster(const uint8_t *raw)
{
    return (fat32_u16(raw + DIR_CLUSTER_HIGH) << 16 | fat32_u16(raw + DIR_CLUSTER_LOW)) &
           0x0fffffff;
}

/* Return true for an entry "." or ".." (name) with this cluster. FAT32 folders begin with both. */
static bool is_dots(const uint8_t *raw, const char *name, uint32_t cluster)
{
    return memcmp(raw, name, 11) == 0 && (raw[DIR_ATTR] & ATTR_DIRECTORY) != 0 &&
           raw_cluster(raw) == cluster;
}

/* Check that "." and "..", if they come first, lead to this folder and its parent. */
static enum err check_dots(struct fat32_proof *p, struct fat32_directory *dir, uint32_t parent)
{
    uint32_t own = dir->cluster;
    const uint8_t *raw;
    enum err e = fat32_next_raw(dir, &raw);

    if (e == ERR_OK && p->is_strict && (raw == NULL || raw[0] != '.'))
        return fat32_damaged(p->fs, "a folder does not begin with the entries . and ..");
    if (e != ERR_OK || raw == NULL || raw[0] != '.') {
        dir->index = 0;
        dir->n_entries = 0;
        return e;
    }
    if (!is_dots(raw, ".          ", own))
        return fat32_damaged(p->fs, "an entry . or .. is wrong");
    e = fat32_next_raw(dir, &raw);
    if (e == ERR_OK &&
        (raw == NULL || !(is_dots(raw, "..         ", parent) ||
                          (parent == 0 && is_dots(raw, "..         ", p->fs->root_cluster)))))
        return fat32_damaged(p->fs, "an entry . or .. is wrong");
    return e;
}

/* A whole volume may have such folders, which no program repairs. */
static enum err too_deep(struct fat32 *fs)
{
    format_text(fs->text, sizeof fs->text,
                "folders are nested more than %d deep, or in a circle: nothing is written to the "
                "file system until the deepest are deleted on a computer, or %s has repaired it",
                FAT32_MOST_DEPTH - 1 /* without the root */, repairer(fs));
    return fat32_fail(fs, ERR_BAD_FILESYSTEM, fs->text);
}

/* Continue with the entries of `folder`, and with the current folder's afterwards. */
static enum err enter(struct fat32_proof *p, const struct fat32_entry *folder)
{
    struct fat32_directory *dir;
    uint32_t parent = p->depth == 0 ? 0 : p->firsts[p->depth - 1];
    bool is_root = p->depth == 0;
    enum err e = fat32_visit_chain(p, folder);

    if (e != ERR_OK || p->gave_up)
        return e;
    if (p->depth == FAT32_MOST_DEPTH)
        return too_deep(p->fs);
    dir = &p->stack[p->depth];
    e = fat32_name_damage(p->fs, fat32_start_directory(p->fs, is_root ? NULL : folder, dir));
    p->firsts[p->depth++] = is_root ? 0 : folder->cluster;
    if (e == ERR_OK && !is_root && !p->fs->is_exfat)
        e = fat32_name_damage(p->fs, check_dots(p, dir, parent));
    return e;
}

/* Return true if an entry's name begins with ".", or if the entry has clusters although its kind
 * has none: then it was a file, and its attributes are damaged. */
static bool is_odd(const uint8_t *raw, bool is_long)
{
    if (is_long)
        return fat32_u16(raw + RAW_CLUSTER_LOW) != 0;
    return raw[0] == '.' || ((raw[DIR_ATTR] & ATTR_VOLUME) && raw_cluster(raw) != 0);
}

/* Check entries after a folder's end mark, where some tools leave old bytes. If an entry has a
 * file's form and leads to used clusters, a damaged end mark hides a file, which a new entry would
 * overwrite. Checking such an entry may take two reads, so the limit of reads may end the walk
 * here. */
static enum err check_behind(struct fat32_proof *p, struct fat32_directory *dir, const uint8_t *raw)
{
    enum err e = ERR_OK;

    while (e == ERR_OK && raw != NULL && p->fs->n_reads < p->last_read) {
        uint32_t cluster = raw_cluster(raw), next = 0;
        bool is_file = raw[0] != NAME_DELETED && (raw[DIR_ATTR] & ~ATTR_LONG_MASK) == 0 &&
                       (raw[DIR_ATTR] & ATTR_VOLUME) == 0;

        if (is_file && fat32_is_cluster(p->fs, cluster)) {
            e = fat32_next_cluster(p->fs, cluster, &next);
            if (e == ERR_OK)
                return fat32_damaged(p->fs, "entries of files lie after the end of a folder");
            e = e == ERR_BAD_FILESYSTEM ? ERR_OK : e;
        }
        if (e == ERR_OK)
            e = fat32_next_raw(dir, &raw);
    }
    return e == ERR_OK ? ERR_NOT_FOUND : e;
}

/* Find the next entry of a file or folder. ERR_NOT_FOUND: there are no more. */
static enum err next_fat_entry(struct fat32_proof *p, struct fat32_directory *dir)
{
    const uint8_t *raw;
    enum err e;

    memset(&p->entry, 0, sizeof p->entry);
    while ((e = fat32_next_raw(dir, &raw)) == ERR_OK && raw != NULL) {
        bool is_long = (raw[DIR_ATTR] & ATTR_LONG_MASK) == ATTR_LONG_NAME;

        if (raw[0] == NAME_END)
            return check_behind(p, dir, raw);
        if (raw[0] == NAME_DELETED)
            continue;
        if (is_odd(raw, is_long))
            return fat32_damaged(p->fs, "a folder has an entry of an unknown kind");
        if (is_long || (raw[DIR_ATTR] & ATTR_VOLUME))
            continue;
        p->entry.is_directory = (raw[DIR_ATTR] & ATTR_DIRECTORY) != 0;
        p->entry.cluster = raw_cluster(raw);
        p->entry.bytes = p->entry.is_directory ? 0 : fat32_u32(raw + DIR_FILE_SIZE);
        return ERR_OK;
    }
    return e == ERR_OK ? ERR_NOT_FOUND : e;
}

static enum err next_exfat_entry(struct fat32_proof *p, struct fat32_directory *dir)
{
    enum err e = exfat_next_entry(dir, &p->entry);

    if (dir->damaged)
        return fat32_damaged(p->fs, "an entry of a folder has a wrong checksum");
    return e;
}

static enum err visit_entry(struct fat32_proof *p)
{
    struct fat32_directory *dir = &p->stack[p->depth - 1];
    enum err e = p->fs->is_exfat ? next_exfat_entry(p, dir) : next_fat_entry(p, dir);

    if (e == ERR_NOT_FOUND) {
        p->depth--;
        return ERR_OK;
    }
    if (e != ERR_OK)
        return fat32_name_damage(p->fs, e);
    return p->entry.is_directory ? enter(p, &p->entry) : fat32_visit_chain(p, &p->entry);
}

/* Each entry of a valid folder is read once, and so is its end. If many entries lead to the same
 * folder, it comes from the buffer without reads, so visits need their own limit. */
static uint64_t most_visits(const struct fat32_proof *p)
{
    uint64_t reads = p->fs->n_reads - p->first_read + 1u;

    return 2 * reads * FAT32_BUFFER_SECTORS * FAT32_SECTOR_ENTRIES;
}

enum err fat32_walk(struct fat32_proof *p)
{
    struct fat32_entry *root = &p->entry;
    enum err e;

    memset(root, 0, sizeof *root);
    root->is_directory = true;
    root->cluster = p->fs->root_cluster;
    e = enter(p, root);
    while (e == ERR_OK && p->depth > 0 && !p->gave_up) {
        p->gave_up = p->fs->n_reads >= p->last_read;
        e = ++p->visits > most_visits(p) ? fat32_damaged(p->fs, shared) : visit_entry(p);
    }
    if (e == ERR_OK && p->gave_up && p->is_dirty)
        return fat32_damaged(p->fs, "it was not unmounted, and it is too large to check here");
    return e;
}
