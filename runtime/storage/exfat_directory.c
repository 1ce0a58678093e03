/* Reads sets of directory entries (sections 6 and 7 of the specification). A set has the entry of a
 * file, the entry of its stream, and the pieces of its name. */
#include <string.h>

#include "runtime/storage/exfat.h"
#include "runtime/storage/fat32.h"
#include "runtime/storage/fat32_volume.h"

enum {
    TYPE_END = 0x00,
    TYPE_BITMAP = 0x81,
    TYPE_UPCASE = 0x82,
    TYPE_FILE = 0x85,
    TYPE_STREAM = 0xc0,
    TYPE_NAME = 0xc1
};

enum { /* byte offsets in a file's entry */
       FILE_N_SECONDARY = 1,
       FILE_CHECKSUM = 2,
       FILE_ATTRIBUTES = 4,
       /* byte offsets in a stream's entry */
       STREAM_FLAGS = 1,
       STREAM_NAME_UNITS = 3,
       STREAM_VALID_BYTES = 8,
       STREAM_CLUSTER = 20,
       STREAM_BYTES = 24,
       /* byte offsets in a piece of a name */
       NAME_UNITS = 2,
       /* offset of a bitmap entry's flags, which tell the two bitmaps apart */
       BITMAP_FLAGS = 1,
};

enum {
    ATTRIBUTE_READ_ONLY = 0x01,
    ATTRIBUTE_DIRECTORY = 0x10,
    FLAG_CONTIGUOUS = 0x02, /* NoFatChain */
    LEAST_SECONDARY = 2,
    MOST_SECONDARY = 18,
    UNITS_A_NAME = 15,
};

/* The set of entries that is being read. */
struct entry_set {
    unsigned n_secondary;
    uint16_t checksum, sum;
    unsigned n_units; /* number of UTF-16 units in the file's name */
};

static uint16_t add_entry(uint16_t sum, const uint8_t *raw, bool is_file)
{
    for (unsigned i = 0; i < FAT32_ENTRY_BYTES; i++) {
        if (!is_file || (i != FILE_CHECKSUM && i != FILE_CHECKSUM + 1))
            sum = (uint16_t)((sum << 15 | sum >> 1) + raw[i]);
    }
    return sum;
}

static void begin_set(struct entry_set *set, const uint8_t *raw, struct fat32_entry *out)
{
    memset(out, 0, sizeof *out);
    out->is_directory = (raw[FILE_ATTRIBUTES] & ATTRIBUTE_DIRECTORY) != 0;
    out->read_only = (raw[FILE_ATTRIBUTES] & ATTRIBUTE_READ_ONLY) != 0;
    set->n_secondary = raw[FILE_N_SECONDARY];
    set->checksum = (uint16_t)fat32_u16(raw + FILE_CHECKSUM);
    set->sum = add_entry(0, raw, true);
    set->n_units = 0;
}

static void take_stream(struct entry_set *set, const uint8_t *raw, struct fat32_entry *out)
{
    set->n_units = raw[STREAM_NAME_UNITS];
    out->contiguous = (raw[STREAM_FLAGS] & FLAG_CONTIGUOUS) != 0;
    out->cluster = fat32_u32(raw + STREAM_CLUSTER);
    out->bytes = fat32_u64(raw + STREAM_BYTES);
    out->unwritten = fat32_u64(raw + STREAM_VALID_BYTES) != out->bytes;
}

/* Take the nth piece of the name, 15 units. */
static void take_name(struct fat32 *fs, const uint8_t *raw, unsigned nth)
{
    for (unsigned i = 0; i < UNITS_A_NAME; i++)
        fs->long_name[nth * UNITS_A_NAME + i] = (uint16_t)fat32_u16(raw + NAME_UNITS + 2 * i);
}

/* Read the entries after the file's entry. Returns ERR_NOT_FOUND if the set is incomplete, or its
 * checksum wrong. */
static enum err read_set(struct fat32_directory *dir, struct entry_set *set,
                         struct fat32_entry *out)
{
    const uint8_t *raw;
    unsigned n_names;

    if (set->n_secondary < LEAST_SECONDARY || set->n_secondary > MOST_SECONDARY)
        return ERR_NOT_FOUND;
    for (unsigned i = 0; i < set->n_secondary; i++) {
        enum err e = fat32_next_raw(dir, &raw);

        if (e != ERR_OK)
            return e;
        n_names = (set->n_units + UNITS_A_NAME - 1) / UNITS_A_NAME;
        if (raw == NULL || raw[0] < TYPE_STREAM || (i == 0) != (raw[0] == TYPE_STREAM) ||
            (i > 0 && i <= n_names && raw[0] != TYPE_NAME))
            return ERR_NOT_FOUND;
        set->sum = add_entry(set->sum, raw, false);
        if (i == 0)
            take_stream(set, raw, out);
        else if (i <= n_names) /* other entries are vendors' extensions */
            take_name(dir->fs, raw, i - 1);
    }
    n_names = (set->n_units + UNITS_A_NAME - 1) / UNITS_A_NAME;
    if (set->n_units == 0 || n_names + 1 > set->n_secondary || set->sum != set->checksum)
        return ERR_NOT_FOUND;
    fat32_put_long_name(dir->fs->long_name, set->n_units, out->name);
    return ERR_OK;
}

enum err exfat_next_entry(struct fat32_directory *dir, struct fat32_entry *out)
{
    struct fat32_directory after;
    struct entry_set set;
    const uint8_t *raw;
    enum err e;

    for (;;) {
        e = fat32_next_raw(dir, &raw);
        if (e != ERR_OK)
            return e;
        if (raw == NULL || raw[0] == TYPE_END)
            break;
        if (raw[0] != TYPE_FILE) { /* a secondary entry whose file's entry is missing, because it is
                                    * damaged */
            dir->damaged = dir->damaged || raw[0] >= TYPE_STREAM;
            continue;
        }
        begin_set(&set, raw, out);
        after = *dir;
        e = read_set(dir, &set, out);
        if (e != ERR_NOT_FOUND)
            return e;
        *dir = after; /* the entry that ends an incomplete set may begin the next set */
        dir->damaged = true;
    }
    dir->ended = true;
    return ERR_NOT_FOUND;
}

enum err exfat_find_tables(struct fat32 *fs, struct exfat_tables *out)
{
    struct fat32_directory root;
    const uint8_t *raw;
    enum err e = fat32_open_directory(fs, "", &root);

    memset(out, 0, sizeof *out);
    while (e == ERR_OK && (e = fat32_next_raw(&root, &raw)) == ERR_OK && raw != NULL &&
           raw[0] != TYPE_END) {
        if (raw[0] == TYPE_BITMAP && (raw[BITMAP_FLAGS] & 1) == fs->active_fat) {
            out->bitmap_cluster = fat32_u32(raw + STREAM_CLUSTER);
            out->bitmap_bytes = fat32_u64(raw + STREAM_BYTES);
        } else if (raw[0] == TYPE_UPCASE) {
            out->upcase_cluster = fat32_u32(raw + STREAM_CLUSTER);
            out->upcase_bytes = fat32_u64(raw + STREAM_BYTES);
        }
    }
    return e == ERR_OK ? err_unless(out->bitmap_cluster != 0, ERR_NOT_FOUND) : e;
}
