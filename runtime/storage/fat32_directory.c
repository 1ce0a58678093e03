/* Directories and names. Section names are those of Microsoft's FAT32 File System Specification
 * 1.03, "FAT Directory Structure" and "Long File Name Implementation". */
#include <stddef.h>
#include <string.h>

#include "runtime/storage/exfat.h"
#include "runtime/storage/fat32.h"
#include "runtime/storage/fat32_volume.h"
#include "runtime/text/utf8.h"

enum {
    MAX_ENTRIES = 65536, /* a directory is at most 2 MiB long */
};

enum { LDIR_MAX = FAT32_NAME_UNITS / LDIR_UNITS };

const uint8_t fat32_unit_offsets[LDIR_UNITS] = { 1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30 };

/* The parts of a long name come in reverse order, directly before the short entry. */
struct long_name {
    unsigned expected; /* number of the next part, or 0 if none is expected */
    unsigned n_units;  /* 0 without a name */
    uint8_t checksum;
};

/* ---- characters ---------------------------------------------------------------------------- */

/* Decode one character of at most n > 0 bytes. A byte that does not begin a character gets a
 * value above all characters, so that it equals only itself. */
static size_t utf8_get(const char *text, size_t n, uint32_t *c)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t length = (size_t)1 + (p[0] >= 0xc0) + (p[0] >= 0xe0) + (p[0] >= 0xf0);

    *c = p[0];
    /* The first byte says how many bytes follow. */
    if (p[0] >= 0x80)
        *c &= 0x7fu >> length;
    if (p[0] >= 0x80 && (length == 1 || length > n || p[0] >= 0xf8))
        length = 0;
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80)
            length = 0;
        else
            *c = *c << 6 | (p[i] & 0x3f);
    }
    if (length > 0)
        return length;
    /* The byte is not a character and stands for itself. */
    *c = 0x110000 + p[0];
    return 1;
}

/* Return the upper case in Latin-1, Greek and Cyrillic. Other characters match exactly. */
static uint32_t fold_case(uint32_t c)
{
    if (c >= 'a' && c <= 'z')
        return c - 0x20;
    if (c >= 0xe0 && c <= 0xfe && c != 0xf7)
        return c - 0x20;
    if (c >= 0x3b1 && c <= 0x3c9 && c != 0x3c2)
        return c - 0x20;
    if (c >= 0x430 && c <= 0x44f)
        return c - 0x20;
    if (c >= 0x450 && c <= 0x45f)
        return c - 0x50;
    return c;
}

bool fat32_names_equal(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    while (a_bytes > 0 && b_bytes > 0) {
        uint32_t x, y;
        size_t n = utf8_get(a, a_bytes, &x), m = utf8_get(b, b_bytes, &y);

        /* FAT stores the case of letters, but ignores it in comparisons. */
        if (fold_case(x) != fold_case(y))
            return false;
        a += n;
        a_bytes -= n;
        b += m;
        b_bytes -= m;
    }
    return a_bytes == 0 && b_bytes == 0;
}

/* Return true if the name ends with ".ingot" and has something before it. */
static bool fat32_is_model_name(const char *name)
{
    size_t bytes = strlen(name);

    return bytes > 6 && fat32_names_equal(name + bytes - 6, 6, ".ingot", 6);
}

/* ---- one entry ----------------------------------------------------------------------------- */

uint8_t fat32_name_checksum(const uint8_t *short_name)
{
    unsigned sum = 0;

    for (int i = 0; i < 11; i++)
        sum = ((sum << 7 | sum >> 1) + short_name[i]) & 0xff;
    return (uint8_t)sum;
}

/* Turn "README MD " into "README.MD". Bytes of a DOS code page become '_', because the page is
 * unknown. A file with such bytes also has a long name. */
static void fat32_put_short_name(struct fat32_entry *out, const uint8_t *raw, bool fold)
{
    size_t at = 0;

    for (size_t i = 0; i < 11; i++) {
        uint8_t c = i == 0 && raw[0] == NAME_IS_E5 ? 0xe5 : raw[i];
        /* DIR_NTRes says that the name (08h) or the extension (10h) is in lower case. */
        bool lower = fold && (raw[DIR_NT_RES] & (i < 8 ? 0x08 : 0x10));

        if (c == ' ')
            continue;
        if (i >= 8 && memchr(out->short_name, '.', at) == NULL)
            out->short_name[at++] = '.';
        if (c < 0x20 || c >= 0x7f)
            c = '_';
        if (lower && c >= 'A' && c <= 'Z')
            c = (uint8_t)(c + 0x20);
        out->short_name[at++] = (char)c;
    }
    out->short_name[at] = '\0';
}

void fat32_put_long_name(const uint16_t *units, unsigned n, char *out)
{
    size_t at = 0;

    for (unsigned i = 0; i < n && units[i] != 0; i++) {
        uint32_t c = units[i];

        if (c >= 0xd800 && c < 0xdc00 && i + 1 < n && units[i + 1] >= 0xdc00 &&
            units[i + 1] < 0xe000) {
            c = 0x10000 + ((c - 0xd800) << 10) + (units[i + 1] - 0xdc00u);
            i++;
        } else if (c >= 0xd800 && c < 0xe000) {
            c = 0xfffd; /* half of a surrogate pair */
        }
        if (at + 4 >= FAT32_NAME_BYTES)
            break; /* only if a name has more than the 255 allowed units */
        at += utf8_encode(out + at, c);
    }
    out[at] = '\0';
}

/* Take a part of a long name. A part out of order drops the whole name; the short name stays
 * valid. */
static void fat32_take_part(struct fat32 *fs, struct long_name *name, const uint8_t *raw)
{
    unsigned order = raw[LDIR_ORD] & ~(unsigned)LDIR_LAST;

    /* The last part comes first and says how many there are. */
    if (raw[LDIR_ORD] & LDIR_LAST) {
        name->expected = order;
        if (order > LDIR_MAX)
            name->expected = 0;
        name->n_units = name->expected * LDIR_UNITS;
        name->checksum = raw[LDIR_CHECKSUM];
    }
    /* The part is out of order, or belongs to another short name. */
    if (order == 0 || order != name->expected || raw[LDIR_CHECKSUM] != name->checksum) {
        name->n_units = 0;
        name->expected = 0;
        return;
    }
    for (unsigned i = 0; i < LDIR_UNITS; i++)
        fs->long_name[(order - 1) * LDIR_UNITS + i] = (uint16_t)fat32_u16(raw +
                                                                          fat32_unit_offsets[i]);
    name->expected--;
}

static void fat32_take_entry(struct fat32 *fs, const struct long_name *name, const uint8_t *raw,
                             struct fat32_entry *out)
{
    /* The long name counts if all parts came and belong to this short name. */
    bool is_long = name->n_units > 0 && name->expected == 0 &&
                   name->checksum == fat32_name_checksum(raw) && fs->long_name[0] != 0;

    memset(out, 0, sizeof *out);
    fat32_put_short_name(out, raw, !is_long);
    if (is_long)
        fat32_put_long_name(fs->long_name, name->n_units, out->name);
    else
        memcpy(out->name, out->short_name, sizeof out->short_name);
    out->is_directory = (raw[DIR_ATTR] & ATTR_DIRECTORY) != 0;
    out->read_only = (raw[DIR_ATTR] & ATTR_READ_ONLY) != 0;
    out->cluster = (fat32_u16(raw + DIR_CLUSTER_HIGH) << 16 | fat32_u16(raw + DIR_CLUSTER_LOW)) &
                   0x0fffffff;
    if (!out->is_directory)
        out->bytes = fat32_u32(raw + DIR_FILE_SIZE);
}

/* ---- walking ------------------------------------------------------------------------------- */

/* Set dir->cluster to the next cluster, or 0 at the end. */
static enum err fat32_next_directory_cluster(struct fat32_directory *dir)
{
    if (!dir->contiguous)
        return fat32_next_cluster(dir->fs, dir->cluster, &dir->cluster);
    /* On exFAT the clusters may be contiguous, without a chain; their number is known. */
    dir->cluster = dir->left > 0 ? dir->cluster + 1 : 0;
    dir->left -= dir->left > 0;
    if (dir->cluster != 0 && !fat32_is_cluster(dir->fs, dir->cluster))
        return fat32_fail(dir->fs, ERR_BAD_FILESYSTEM, "a folder leaves the volume");
    return ERR_OK;
}

enum err fat32_next_raw(struct fat32_directory *dir, const uint8_t **out)
{
    struct fat32 *fs = dir->fs;
    const uint8_t *sector;
    enum err e;

    *out = NULL;
    /* The cluster has no more entries. */
    if (!dir->ended && dir->index == fs->cluster_sectors * FAT32_SECTOR_ENTRIES) {
        e = fat32_next_directory_cluster(dir);
        if (e != ERR_OK)
            return e;
        dir->index = 0;
        dir->ended = dir->cluster == 0;
    }
    if (dir->ended)
        return ERR_OK;
    /* A chain may lead back into itself. */
    if (dir->n_entries++ == MAX_ENTRIES)
        return fat32_fail(fs, ERR_BAD_FILESYSTEM, "a folder is longer than 2 MiB, or cyclic");
    e = fat32_fetch_sector(fs,
                           fat32_cluster_sector(fs, dir->cluster) +
                               dir->index / FAT32_SECTOR_ENTRIES,
                           &sector);
    if (e != ERR_OK)
        return e;
    *out = sector + dir->index % FAT32_SECTOR_ENTRIES * FAT32_ENTRY_BYTES;
    dir->index++;
    return ERR_OK;
}

enum err fat32_next_entry(struct fat32_directory *dir, struct fat32_entry *out)
{
    struct long_name name = { 0, 0, 0 };
    const uint8_t *raw;

    dir->fs->why = NULL;
    if (dir->fs->is_exfat)
        return exfat_next_entry(dir, out);
    for (;;) {
        enum err e = fat32_next_raw(dir, &raw);

        if (e != ERR_OK)
            return e;
        if (raw == NULL || raw[0] == NAME_END)
            break;
        /* If an entry is not a file, its long name is dropped with it. */
        if (raw[0] == NAME_DELETED) {
            name.n_units = 0;
        } else if ((raw[DIR_ATTR] & ATTR_LONG_MASK) == ATTR_LONG_NAME) {
            fat32_take_part(dir->fs, &name, raw);
        } else if ((raw[DIR_ATTR] & ATTR_VOLUME) || raw[0] == '.') {
            name.n_units = 0;
        } else {
            fat32_take_entry(dir->fs, &name, raw, out);
            return ERR_OK;
        }
    }
    dir->ended = true;
    return ERR_NOT_FOUND;
}

/* There are no more entries. If some were damaged, the wanted entry may be among them. */
static enum err fat32_at_end(const struct fat32_directory *dir)
{
    if (!dir->damaged)
        return ERR_NOT_FOUND;
    return fat32_fail(dir->fs, ERR_BAD_FILESYSTEM,
                      "exFAT: an entry of the folder is damaged: repair it by fsck.exfat");
}

enum err fat32_start_directory(struct fat32 *fs, const struct fat32_entry *entry,
                               struct fat32_directory *out)
{
    uint64_t cluster_bytes = (uint64_t)fs->cluster_sectors * SECTOR_BYTES;

    memset(out, 0, sizeof *out);
    out->fs = fs;
    out->cluster = entry != NULL ? entry->cluster : fs->root_cluster;
    if (entry != NULL && entry->contiguous) {
        out->contiguous = true;
        out->left = entry->bytes > 0 ? (entry->bytes - 1) / cluster_bytes : 0;
    }
    if (fat32_is_cluster(fs, out->cluster))
        return ERR_OK;
    out->ended = true;
    return fat32_fail(fs, ERR_BAD_FILESYSTEM, "a folder starts outside the volume");
}

/* Find the entry of this name or, with or_model and without an exact match, of name.ingot. */
static enum err fat32_find_entry(struct fat32_directory *dir, const char *name, size_t bytes,
                                 bool or_model, struct fat32_entry *out)
{
    struct fat32_directory second = *dir;
    enum err e;

    /* Compare the long name and the short name. */
    while ((e = fat32_next_entry(dir, out)) == ERR_OK) {
        if (fat32_names_equal(out->name, strlen(out->name), name, bytes) ||
            (out->short_name[0] != '\0' &&
             fat32_names_equal(out->short_name, strlen(out->short_name), name, bytes)))
            return ERR_OK;
    }
    if (e != ERR_NOT_FOUND)
        return e;
    if (!or_model)
        return fat32_at_end(dir);
    /* Search again from the beginning, with the extension. */
    while ((e = fat32_next_entry(&second, out)) == ERR_OK) {
        if (fat32_is_model_name(out->name) &&
            fat32_names_equal(out->name, strlen(out->name) - 6, name, bytes))
            return ERR_OK;
    }
    return e == ERR_NOT_FOUND ? fat32_at_end(&second) : e;
}

/* Follow path from the root. *out is the entry of the last part. If path has no part, *is_root is
 * set instead. */
static enum err fat32_walk(struct fat32 *fs, const char *path, bool or_model, bool *is_root,
                           struct fat32_entry *out)
{
    struct fat32_directory dir;
    enum err e = fat32_start_directory(fs, NULL, &dir);

    *is_root = true;
    while (*path == '/')
        path++;
    while (e == ERR_OK && *path != '\0') {
        const char *rest = path;
        size_t bytes;

        /* A part ends at the next slash. Consecutive slashes count as one. */
        while (*rest != '/' && *rest != '\0')
            rest++;
        bytes = (size_t)(rest - path);
        while (*rest == '/')
            rest++;
        if (!*is_root && !out->is_directory)
            return ERR_NOT_FOUND;
        if (!*is_root)
            e = fat32_start_directory(fs, out, &dir);
        if (e == ERR_OK)
            e = fat32_find_entry(&dir, path, bytes, or_model && *rest == '\0', out);
        *is_root = false;
        path = rest;
    }
    return e;
}

enum err fat32_open_directory(struct fat32 *fs, const char *path, struct fat32_directory *out)
{
    struct fat32_entry entry;
    bool is_root;
    enum err e;

    fs->why = NULL;
    memset(out, 0, sizeof *out);
    out->fs = fs;
    out->ended = true;
    e = fat32_walk(fs, path, false, &is_root, &entry);
    if (e != ERR_OK)
        return e;
    if (is_root)
        return fat32_start_directory(fs, NULL, out);
    if (!entry.is_directory)
        return fat32_fail(fs, ERR_NOT_FOUND, "this is a file, not a folder");
    return fat32_start_directory(fs, &entry, out);
}

enum err fat32_find(struct fat32 *fs, const char *path, struct fat32_entry *out)
{
    bool is_root;
    enum err e;

    fs->why = NULL;
    e = fat32_walk(fs, path, false, &is_root, out);
    if (e == ERR_NOT_FOUND || (e == ERR_OK && is_root))
        return fat32_fail(fs, ERR_NOT_FOUND, "no such file on the card");
    return e;
}

/* ---- models -------------------------------------------------------------------------------- */

static enum err fat32_next_model(struct fat32_directory *dir, struct fat32_entry *out)
{
    enum err e;

    while ((e = fat32_next_entry(dir, out)) == ERR_OK) {
        if (!out->is_directory && !fat32_is_apple_double(out->name) &&
            fat32_is_model_name(out->name))
            return ERR_OK;
    }
    return e;
}

int fat32_compare_names(const char *a, const char *b)
{
    const char *x = a, *y = b;

    while (*x != '\0' && *y != '\0') {
        uint32_t c, d;

        x += utf8_get(x, strlen(x), &c);
        y += utf8_get(y, strlen(y), &d);
        c = fold_case(c);
        d = fold_case(d);
        if (c != d)
            return c < d ? -1 : 1;
    }
    /* The names are equal so far, so the shorter comes first; if both end, case decides. */
    if (*x != *y)
        return *x == '\0' ? -1 : 1;
    return strcmp(a, b);
}

enum err fat32_image_after(struct fat32 *fs, const char *folder, const char *after,
                           struct fat32_entry *out)
{
    struct fat32_directory dir;
    struct fat32_entry entry;
    bool found = false;
    enum err e = fat32_open_directory(fs, folder, &dir);

    if (e == ERR_NOT_FOUND)
        return fat32_fail(fs, e,
                          strcmp(folder, "models") == 0 ? "the card has no folder models"
                                                        : "the card has no folder adapters");
    /* A folder is not sorted, so look for the smallest name after `after`. */
    while (e == ERR_OK && (e = fat32_next_model(&dir, &entry)) == ERR_OK) {
        if (fat32_compare_names(entry.name, after) > 0 &&
            (!found || fat32_compare_names(entry.name, out->name) < 0)) {
            *out = entry;
            found = true;
        }
    }
    if (e != ERR_NOT_FOUND)
        return e;
    return found ? ERR_OK : fat32_at_end(&dir);
}

enum err fat32_count_models(struct fat32 *fs, unsigned *out)
{
    struct fat32_directory dir;
    struct fat32_entry entry;
    enum err e = fat32_open_directory(fs, "models", &dir);

    *out = 0;
    while (e == ERR_OK && (e = fat32_next_model(&dir, &entry)) == ERR_OK)
        ++*out;
    if (e == ERR_NOT_FOUND && *out == 0)
        e = fat32_at_end(&dir);
    return e == ERR_NOT_FOUND ? ERR_OK : e;
}

enum err fat32_find_model(struct fat32 *fs, const char *name, struct fat32_entry *out)
{
    struct fat32_directory dir;
    bool is_root;
    enum err e;

    fs->why = NULL;
    if (strchr(name, '/') != NULL) {
        e = fat32_walk(fs, name, true, &is_root, out);
        if (e == ERR_OK && is_root)
            e = ERR_NOT_FOUND;
    } else {
        e = fat32_open_directory(fs, "models", &dir);
        if (e == ERR_OK)
            e = fat32_find_entry(&dir, name, strlen(name), true, out);
    }
    if (e == ERR_OK && out->is_directory)
        e = ERR_NOT_FOUND;
    if (e == ERR_NOT_FOUND)
        return fat32_fail(fs, e, "no such model on the card: its models are models/*.ingot");
    return e;
}
