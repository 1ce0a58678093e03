/* Size and contents of a folder on FAT32: an entry, and each slot of its long name, has 32
 * bytes. */
#include <string.h>
#include <time.h>

#include "flash_image/card/card_image.h"

enum { SLOT = 32, ATTR_VOLUME = 0x08, ATTR_FOLDER = 0x10, ATTR_ARCHIVE = 0x20 };
enum { /* offsets in an entry, in bytes */
       DIR_ATTR = 11,
       DIR_CREATED_TIME = 14,
       DIR_CREATED_DATE = 16,
       DIR_READ_DATE = 18,
       DIR_CLUSTER_HIGH = 20,
       DIR_WRITTEN_TIME = 22,
       DIR_WRITTEN_DATE = 24,
       DIR_CLUSTER_LOW = 26,
       DIR_FILE_SIZE = 28,
};

static void put_time(uint8_t *out, int64_t seconds)
{
    time_t t = (time_t)seconds;
    struct tm tm;
    uint32_t date, time;

    gmtime_r(&t, &tm);
    if (tm.tm_year < 80) { /* FAT begins with 1980 */
        tm = (struct tm){ .tm_year = 80, .tm_mday = 1 };
    }
    date = (uint32_t)((tm.tm_year - 80) << 9 | (tm.tm_mon + 1) << 5 | tm.tm_mday);
    time = (uint32_t)(tm.tm_hour << 11 | tm.tm_min << 5 | tm.tm_sec / 2);
    card_put_u16(out + DIR_CREATED_TIME, time);
    card_put_u16(out + DIR_CREATED_DATE, date);
    card_put_u16(out + DIR_READ_DATE, date);
    card_put_u16(out + DIR_WRITTEN_TIME, time);
    card_put_u16(out + DIR_WRITTEN_DATE, date);
}

static void put_slot(uint8_t *out, const void *name, unsigned attributes, uint32_t cluster,
                     int64_t time)
{
    memcpy(out, name, CARD_SHORT_NAME);
    out[DIR_ATTR] = (uint8_t)attributes;
    put_time(out, time);
    card_put_u16(out + DIR_CLUSTER_HIGH, cluster >> 16);
    card_put_u16(out + DIR_CLUSTER_LOW, cluster & 0xffff);
}

/* Write the entries at a folder's start. In a folder that the root contains, ".." has cluster 0. */
static uint8_t *put_head(const struct card_image *c, uint32_t i, int64_t time, uint8_t *out)
{
    const struct card_entry *e = &c->entries[i];

    if (i == 0) {
        put_slot(out, "INGOT      ", ATTR_VOLUME, 0, time);
        return out + SLOT;
    }
    put_slot(out, ".          ", ATTR_FOLDER, e->cluster, time);
    put_slot(out + SLOT, "..         ", ATTR_FOLDER,
             e->folder == 0 ? 0 : c->entries[e->folder].cluster, time);
    return out + (size_t)2 * SLOT;
}

void card_put_folder(const struct card_image *c, uint32_t i, int64_t time, uint8_t *out)
{
    out = put_head(c, i, time, out);
    for (uint32_t k = 1; k < c->n; k++) {
        const struct card_entry *e = &c->entries[k];

        if (e->folder != i) {
            continue;
        }
        card_put_long_name(e, out);
        out += (size_t)(e->n_slots - 1) * SLOT;
        put_slot(out, e->short_name, e->is_folder ? ATTR_FOLDER : ATTR_ARCHIVE, e->cluster, time);
        card_put_u32(out + DIR_FILE_SIZE, e->is_folder ? 0 : (uint32_t)e->bytes);
        out += SLOT;
    }
}
