/* Make and change entries of folders. Section names are those of Microsoft's FAT32 File System
 * Specification 1.03, "FAT Directory Structure" and "Long File Name Implementation". */
#include "runtime/storage/fat32_write.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/storage/fat32_chain.h"
#include "runtime/storage/fat32_volume.h"
#include "runtime/base/platform.h"
#include "runtime/text/civil_time.h"

enum {
    SHORT_BYTES = 11,
    SHORT_BASE = 6, /* letters before "~1" */
    MOST_SHORT = 99,
    MOST_PARTS = (FAT32_NEW_NAME_BYTES + LDIR_UNITS - 1) / LDIR_UNITS,
    FIRST_YEAR = 1980,
    LAST_YEAR = FIRST_YEAR + 127,
    FIRST_DATE = 1 << 5 | 1, /* 1 January 1980, used if the machine does not know the date */
};

/* The new entries of a name. In the folder the long entries come in reverse order, then the short
 * entry. */
struct new_entry {
    const char *name;
    uint8_t short_name[SHORT_BYTES];
    uint32_t cluster, bytes;
    uint8_t attributes;
    uint16_t date, time;
    unsigned n; /* number of entries in raw */
    uint8_t raw[(MOST_PARTS + 1) * FAT32_ENTRY_BYTES];
};

/* The place for new entries. New entries go to one sector, so that one write makes them visible. If
 * they do not fit into the sector's free part, the next sector first becomes the folder's end. */
struct place {
    uint64_t sector;  /* sector of the first free entry, or 0 if the folder's clusters are full */
    unsigned index;   /* index of the first free entry in the sector */
    uint32_t cluster; /* the folder's cluster that has the sector */
    bool at_end;      /* nothing comes after the first free entry */
    bool fits;
};

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool fat32_is_new_name(const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < n; i++)
        if (!is_letter_or_digit(name[i]) && strchr("-_.", name[i]) == NULL)
            return false;
    return n != 0 && n < FAT32_NEW_NAME_BYTES && is_letter_or_digit(name[0]) && name[n - 1] != '.';
}

/* Set the machine's date and time. FAT counts years from 1980 on and seconds in steps of two ("Date
 * and Time Formats"). */
static void stamp(const struct fat32 *fs, struct new_entry *new)
{
    const struct platform *platform = fs->device.timeout.platform;
    struct civil_time t = civil_time_of(platform != NULL ? platform_date(&platform->clock) : 0);

    new->date = FIRST_DATE;
    if (t.year < FIRST_YEAR || t.year > LAST_YEAR)
        return;
    new->date = (uint16_t)((t.year - FIRST_YEAR) << 9 | t.month << 5 | t.day);
    new->time = (uint16_t)(t.hour << 11 | t.minute << 5 | t.second / 2);
}

/* ---- one entry ------------------------------------------------------------------------------- */

static void put_u16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

static void put_place(uint8_t *raw, uint32_t cluster, uint32_t bytes)
{
    put_u16(raw + DIR_CLUSTER_HIGH, cluster >> 16);
    put_u16(raw + DIR_CLUSTER_LOW, cluster);
    put_u16(raw + DIR_FILE_SIZE, bytes);
    put_u16(raw + DIR_FILE_SIZE + 2, bytes >> 16);
}

/* Write the letters and digits of a part of the name in upper case. */
static unsigned put_upper(uint8_t *out, unsigned most, const char *text, size_t bytes)
{
    unsigned n = 0;

    for (size_t i = 0; i < bytes && n < most; i++)
        if (is_letter_or_digit(text[i]))
            out[n++] = (uint8_t)(text[i] >= 'a' && text[i] <= 'z' ? text[i] - 0x20 : text[i]);
    return n;
}

/* Write the short name "NAME~1 ING", with the given number, 1 to MOST_SHORT. */
static void put_short_name(struct new_entry *new, unsigned number)
{
    const char *dot = strrchr(new->name, '.');
    size_t base = dot == NULL ? strlen(new->name) : (size_t)(dot - new->name);
    unsigned n;

    memset(new->short_name, ' ', SHORT_BYTES);
    /* The base name is six letters and "~1", or five letters and "~10". */
    n = put_upper(new->short_name, SHORT_BASE - (number > 9), new->name, base);
    new->short_name[n++] = '~';
    if (number > 9)
        new->short_name[n++] = (uint8_t)('0' + number / 10);
    new->short_name[n] = (uint8_t)('0' + number % 10);
    if (dot != NULL)
        (void)put_upper(new->short_name + 8, 3, dot + 1, strlen(dot + 1));
}

static void put_part(const struct new_entry *new, unsigned part, bool last, uint8_t *raw)
{
    size_t length = strlen(new->name);

    memset(raw, 0, FAT32_ENTRY_BYTES);
    raw[LDIR_ORD] = (uint8_t)(part | (last ? (unsigned)LDIR_LAST : 0));
    raw[LDIR_ATTR] = ATTR_LONG_NAME;
    raw[LDIR_CHECKSUM] = fat32_name_checksum(new->short_name);
    for (unsigned i = 0; i < LDIR_UNITS; i++) {
        size_t at = (part - 1) * (size_t)LDIR_UNITS + i;

        /* A zero follows the name, then FFFFh ("Long File Name Implementation"). */
        put_u16(raw + fat32_unit_offsets[i], at < length    ? (uint8_t) new->name[at]
                                             : at == length ? 0u
                                                            : 0xffffu);
    }
}

static void put_written(uint8_t *raw, const struct new_entry *new)
{
    put_u16(raw + DIR_WRITTEN_TIME, new->time);
    put_u16(raw + DIR_WRITTEN, new->date);
}

static void put_short_entry(const struct new_entry *new, const uint8_t *name, uint8_t *raw)
{
    memset(raw, 0, FAT32_ENTRY_BYTES);
    memcpy(raw, name, SHORT_BYTES);
    raw[DIR_ATTR] = new->attributes;
    put_u16(raw + DIR_CREATED_TIME, new->time);
    put_u16(raw + DIR_CREATED, new->date);
    put_u16(raw + DIR_ACCESSED, new->date);
    put_written(raw, new);
    put_place(raw, new->cluster, new->bytes);
}

static void put_entries(struct new_entry *new)
{
    unsigned parts = (unsigned)(strlen(new->name) + LDIR_UNITS - 1) / LDIR_UNITS;

    /* The last part of the name comes first. */
    for (unsigned i = 0; i < parts; i++)
        put_part(new, parts - i, i == 0, new->raw + i *FAT32_ENTRY_BYTES);
    put_short_entry(new, new->short_name, new->raw + parts *FAT32_ENTRY_BYTES);
    new->n = parts + 1;
}

/* ---- a folder -------------------------------------------------------------------------------- */

/* Return the sector and index of the entry that was read last. */
static uint64_t entry_sector(const struct fat32_directory *dir)
{
    return fat32_cluster_sector(dir->fs, dir->cluster) + (dir->index - 1) / FAT32_SECTOR_ENTRIES;
}

static unsigned entry_index(const struct fat32_directory *dir)
{
    return (dir->index - 1) % FAT32_SECTOR_ENTRIES;
}

/* Choose a short name that no entry of the folder has. */
static enum err choose_short_name(struct fat32 *fs, const char *folder, struct new_entry *new)
{
    struct fat32_directory dir;

    for (unsigned number = 1; number <= MOST_SHORT; number++) {
        const uint8_t *raw;
        bool taken = false;
        enum err e = fat32_open_directory(fs, folder, &dir);

        put_short_name(new, number);
        /* Read all entries of the folder again for each number. Few numbers are tried. */
        while (e == ERR_OK && !taken && (e = fat32_next_raw(&dir, &raw)) == ERR_OK && raw != NULL &&
               raw[0] != NAME_END)
            taken = raw[0] != NAME_DELETED && raw[DIR_ATTR] != ATTR_LONG_NAME &&
                    memcmp(raw, new->short_name, SHORT_BYTES) == 0;
        if (e != ERR_OK || !taken)
            return e;
    }
    return fat32_fail(fs, ERR_NO_SPACE, "too many files of the folder have names that begin alike");
}

/* Find room for n entries in one sector of the folder, or at its end. */
static enum err find_place(struct fat32 *fs, const char *folder, unsigned n, struct place *place)
{
    struct fat32_directory dir;
    const uint8_t *raw;
    unsigned run = 0;
    enum err e = fat32_open_directory(fs, folder, &dir);

    memset(place, 0, sizeof *place);
    while (e == ERR_OK) {
        uint32_t cluster = dir.cluster;

        e = fat32_next_raw(&dir, &raw);
        if (e != ERR_OK)
            return e;
        place->at_end = raw == NULL || raw[0] == NAME_END;
        if (raw == NULL) { /* the folder's clusters are full */
            place->sector = 0;
            place->cluster = cluster;
            return ERR_OK;
        }
        /* Count a run of free entries within one sector. */
        run = entry_index(&dir) == 0 ? 0 : run;
        run = place->at_end || raw[0] == NAME_DELETED ? run + 1 : 0;
        place->sector = entry_sector(&dir);
        place->cluster = dir.cluster;
        place->index = entry_index(&dir) + 1 - run;
        place->fits = run == n || (place->at_end && place->index + n < FAT32_SECTOR_ENTRIES);
        if (place->fits || place->at_end)
            return ERR_OK;
    }
    return e;
}

/* Add a new cluster to the folder. The cluster begins with the new entries or, if `new` is NULL,
 * with the end mark. */
static enum err grow(struct fat32 *fs, const struct new_entry *new, uint32_t last,
                     uint32_t *cluster)
{
    uint8_t first[SECTOR_BYTES] = { 0 };
    enum err e;

    *cluster = 0;
    e = fat32_find_free(fs, cluster);
    if (new != NULL)
        memcpy(first, new->raw, new->n *(size_t)FAT32_ENTRY_BYTES);
    /* Write the cluster before the folder leads to it. */
    if (e == ERR_OK)
        e = fat32_clear_cluster(fs, *cluster, first);
    return e == ERR_OK ? fat32_link_cluster(fs, last, *cluster) : e;
}

/* Write the folder's end mark also to the next sector, *next. No entry may be written there before
 * this sector leads to it. Otherwise a power cut could leave the entry hidden after the end
 * mark. */
static enum err end_behind(struct fat32 *fs, const struct place *place, struct place *next)
{
    const uint8_t *found;
    enum err e = ERR_OK;

    *next = (struct place){
        .sector = place->sector + 1, .cluster = place->cluster, .at_end = true, .fits = true
    };
    /* After a cluster's last sector, continue in the folder's next or in a new cluster. */
    if (next->sector == fat32_cluster_sector(fs, place->cluster) + fs->cluster_sectors) {
        e = fat32_next_cluster(fs, place->cluster, &next->cluster);
        if (e == ERR_OK && next->cluster == 0)
            e = grow(fs, NULL, place->cluster, &next->cluster);
        next->sector = fat32_cluster_sector(fs, next->cluster);
    }
    if (e == ERR_OK)
        e = fat32_fetch_sector(fs, next->sector, &found);
    if (e != ERR_OK)
        return e;
    memset(fs->buffer + (next->sector - fs->buffer_sector) * SECTOR_BYTES, 0, SECTOR_BYTES);
    return fat32_put_sectors(fs, next->sector, 1);
}

/* Write one sector. The write makes the entries visible or, if they do not fit, lets the folder
 * continue in the next sector. */
static enum err put_here(struct fat32 *fs, const struct new_entry *new, const struct place *place)
{
    const uint8_t *found;
    uint8_t *at;
    enum err e = fat32_fetch_sector(fs, place->sector, &found);

    if (e != ERR_OK)
        return e;
    at = fs->buffer + (place->sector - fs->buffer_sector) * SECTOR_BYTES;
    /* Clear the area after an end mark, which may hold anything. */
    if (place->at_end)
        memset(at + place->index * FAT32_ENTRY_BYTES, 0,
               SECTOR_BYTES - place->index * FAT32_ENTRY_BYTES);
    if (place->fits) {
        memcpy(at + place->index * FAT32_ENTRY_BYTES, new->raw, new->n *(size_t)FAT32_ENTRY_BYTES);
    } else { /* free entries here must no longer mark the end */
        for (unsigned i = place->index; i < FAT32_SECTOR_ENTRIES; i++)
            at[i * FAT32_ENTRY_BYTES] = NAME_DELETED;
    }
    return fat32_put_sectors(fs, place->sector, 1);
}

static enum err add_entry(struct fat32 *fs, const char *folder, struct new_entry *new)
{
    struct place place, next;
    enum err e = choose_short_name(fs, folder, new);

    if (e != ERR_OK)
        return e;
    put_entries(new);
    e = find_place(fs, folder, new->n, &place);
    if (e != ERR_OK)
        return e;
    /* If the folder's clusters are full, add a cluster with the entries in it. */
    if (place.sector == 0)
        return grow(fs, new, place.cluster, &place.cluster);
    /* Write the new end first, then the link to it, then the entries. */
    if (!place.fits) {
        e = end_behind(fs, &place, &next);
        if (e == ERR_OK)
            e = put_here(fs, new, &place);
        place = next;
    }
    return e == ERR_OK ? put_here(fs, new, &place) : e;
}

/* ---- folders and files ----------------------------------------------------------------------- */

/* Make an empty folder in the root. */
static enum err make_folder(struct fat32 *fs, const char *name)
{
    struct new_entry new = { .name = name, .attributes = ATTR_DIRECTORY };
    uint8_t first[SECTOR_BYTES] = { 0 };
    enum err e = fat32_find_free(fs, &new.cluster);

    stamp(fs, &new);
    /* Make the entries "." and "..", with which each folder except the root begins. */
    put_short_entry(&new, (const uint8_t *)".          ", first);
    new.attributes = ATTR_DIRECTORY;
    put_short_entry(&new, (const uint8_t *)"..         ", first + FAT32_ENTRY_BYTES);
    put_place(first + FAT32_ENTRY_BYTES, 0, 0); /* ".." has number 0 for the root */
    if (e == ERR_OK)
        e = fat32_clear_cluster(fs, new.cluster, first);
    if (e == ERR_OK)
        e = fat32_link_cluster(fs, 0, new.cluster);
    return e == ERR_OK ? add_entry(fs, "", &new) : e;
}

static bool same(const char *a, const char *b)
{
    return fat32_names_equal(a, strlen(a), b, strlen(b));
}

/* Find the entry of this name, and set *sector and *index. ERR_NOT_FOUND: there is none. */
static enum err find_entry(struct fat32 *fs, const char *folder, const char *name,
                           struct fat32_entry *entry, uint64_t *sector, unsigned *index)
{
    struct fat32_directory dir;
    enum err e = fat32_open_directory(fs, folder, &dir);

    while (e == ERR_OK && (e = fat32_next_entry(&dir, entry)) == ERR_OK)
        if (same(entry->name, name) || same(entry->short_name, name))
            break;
    *sector = e == ERR_OK ? entry_sector(&dir) : 0;
    *index = e == ERR_OK ? entry_index(&dir) : 0;
    return e;
}

/* Change the entry's clusters and attributes by writing its one sector. */
static enum err replace(struct fat32 *fs, uint64_t sector, unsigned index,
                        const struct new_entry *new)
{
    const uint8_t *found;
    uint8_t *raw;
    enum err e = fat32_fetch_sector(fs, sector, &found);

    if (e != ERR_OK)
        return e;
    raw = fs->buffer + (sector - fs->buffer_sector) * SECTOR_BYTES + index * FAT32_ENTRY_BYTES;
    put_place(raw, new->cluster, new->bytes);
    raw[DIR_ATTR] = new->attributes;
    put_written(raw, new);
    return fat32_put_sectors(fs, sector, 1);
}

static enum err name_file(struct fat32 *fs, const char *folder, const char *name,
                          const struct file *file)
{
    struct new_entry new = { .name = name,
                             .cluster = fat32_first_cluster(fs, file),
                             .bytes = (uint32_t)file->bytes,
                             .attributes = ATTR_ARCHIVE };
    struct fat32_entry old;
    uint64_t sector;
    unsigned index;
    enum err e = find_entry(fs, folder, name, &old, &sector, &index);

    stamp(fs, &new);
    if (e == ERR_OK && old.is_directory)
        return fat32_fail(fs, ERR_BAD_ARGUMENT, "a folder has that name");
    if (e == ERR_OK && old.read_only)
        return fat32_fail(
            fs, ERR_UNSUPPORTED,
            "the file of that name has the attribute read-only, so that it is not replaced: "
            "take the attribute away on a computer");
    /* The name is new. */
    if (e == ERR_NOT_FOUND)
        return add_entry(fs, folder, &new);
    /* Replace a file. Free the old chain only after the entry leads to the new chain. */
    if (e == ERR_OK)
        e = fat32_check_length(fs, old.cluster, old.bytes);
    if (e == ERR_OK)
        e = replace(fs, sector, index, &new);
    return e == ERR_OK ? fat32_free_chain(fs, old.cluster) : e;
}

static enum err publish(struct fat32 *fs, const char *folder, const char *name,
                        const struct file *file)
{
    struct fat32_directory dir;
    enum err e = fat32_link_file(fs, file); /* the file's clusters are in use from now on */

    if (e == ERR_OK)
        e = fat32_open_directory(fs, folder, &dir);
    if (e == ERR_NOT_FOUND)
        e = make_folder(fs, folder);
    return e == ERR_OK ? name_file(fs, folder, name, file) : e;
}

enum err fat32_publish(struct fat32 *fs, const char *folder, const char *name,
                       const struct file *file)
{
    enum err e;

    fs->why = NULL;
    if (!fat32_is_new_name(folder) || !fat32_is_new_name(name) || file->n_extents == 0)
        return fat32_fail(fs, ERR_BAD_ARGUMENT,
                          "a name has up to 63 letters, digits, '-', '_' and '.' of ASCII");
    e = fat32_check_free(fs, file);
    if (e == ERR_OK)
        /* A power cut during the changes would leave a wrong count of free clusters. */
        e = fat32_forget_free(fs);
    if (e == ERR_OK)
        e = publish(fs, folder, name, file);
    return e == ERR_OK ? fat32_tell_free(fs) : e;
}
