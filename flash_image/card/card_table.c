/* The partition table of a card: an MBR, or a GPT with a protective MBR. */
#include <string.h>

#include "flash_image/card/card_writer.h"
#include "runtime/storage/partitions.h"

enum {
    MBR_ENTRIES = 446,
    MBR_ENTRY = 16,
    ACTIVE = 0x80,
    LEGACY_BOOT = 1 << 2,
    TYPE_FAT32 = 0x0c,
    TYPE_EXFAT = 0x07,
    TYPE_GPT = 0xee
};
enum {
    GUID = 16,
    GPT_ENTRY = 128,
    GPT_ENTRIES = 128,
    GPT_TABLE_BYTES = GPT_ENTRY * GPT_ENTRIES,
    GPT_TABLE_SECTORS = GPT_TABLE_BYTES / CARD_SECTOR,
    GPT_HEADER_BYTES = 92,
    GPT_FIRST_USABLE = 2 + GPT_TABLE_SECTORS,
};

/* ---- MBR ----------------------------------------------------------------------------------- */

/* The CHS fields say "see LBA". */
static void mbr_entry(uint8_t *out, uint8_t type, uint64_t start, uint64_t n)
{
    const uint8_t entry[8] = { 0x00, 0xfe, 0xff, 0xff, type, 0xfe, 0xff, 0xff };

    memcpy(out, entry, sizeof entry);
    card_put_u32(out + 8, (uint32_t)start);
    card_put_u32(out + 12, n > UINT32_MAX ? UINT32_MAX : (uint32_t)n);
}

static enum err put_mbr(struct card_writer *w, const struct card_layout *const *volumes, unsigned n,
                        unsigned first)
{
    uint8_t sector[CARD_SECTOR] = { 0 };

    card_put_u32(sector + 440, card_volume_id(w));
    for (unsigned i = 0; i < n; i++) {
        mbr_entry(sector + MBR_ENTRIES + (size_t)(first + i) * MBR_ENTRY,
                  volumes[i]->format == CARD_EXFAT ? TYPE_EXFAT : TYPE_FAT32, volumes[i]->start,
                  volumes[i]->n);
    }
    if (first != 0) {
        sector[MBR_ENTRIES + (size_t)first * MBR_ENTRY] =
            ACTIVE; /* without this mark U-Boot looks only at the first partition */
    }
    card_sign(sector);
    return card_put(w, 0, sector, sizeof sector);
}

/* Write one entry for the whole disk, so that software without support for GPT leaves the disk
 * alone. The CHS of sector 1 is 0/0/2. */
static enum err put_protective_mbr(struct card_writer *w, uint64_t sectors)
{
    uint8_t sector[CARD_SECTOR] = { 0 };

    mbr_entry(sector + MBR_ENTRIES, TYPE_GPT, 1, sectors - 1);
    memcpy(sector + MBR_ENTRIES + 1, (const uint8_t[3]){ 0x00, 0x02, 0x00 }, 3);
    memset(sector + MBR_ENTRIES + 5, 0xff, 3);
    card_sign(sector);
    return card_put(w, 0, sector, sizeof sector);
}

/* ---- GPT ----------------------------------------------------------------------------------- */

/* Write the GUID of the disk (`which` is 0) or of a partition (from 1). All GUIDs of a card differ,
 * but equal contents always give the same GUIDs, so that the images are equal, too. GUIDs have
 * version 8, for custom schemes (RFC 9562). */
static void put_guid(const struct card_writer *w, uint64_t sectors, uint32_t which, uint8_t *out)
{
    uint64_t hash = card_mix(card_mix(w->number, sectors), which);

    card_put_u64(out, hash);
    card_put_u64(out + 8, card_mix(hash, which));
    out[7] = (uint8_t)((out[7] & 0x0f) | 0x80);
    out[8] = (uint8_t)((out[8] & 0x3f) | 0x80);
}

/* Write the table's entry of partition i + 1 to `entry`. */
static void gpt_entry(const struct card_writer *w, uint64_t sectors, unsigned i, uint64_t start,
                      uint64_t n, const char *name, uint8_t *entry)
{
    put_guid(w, sectors, i + 1, entry + GUID);
    card_put_u64(entry + 32, start);
    card_put_u64(entry + 40, start + n - 1);
    for (size_t k = 0; name[k] != '\0'; k++) {
        entry[56 + 2 * k] = (uint8_t)name[k];
    }
}

/* The payload starts where the last volume ends. */
static void gpt_payload(const struct card_writer *w, const struct card_payload *payload,
                        const struct card_layout *last, unsigned i, uint64_t sectors,
                        uint8_t *entry)
{
    memcpy(entry, payload->type, GUID);
    gpt_entry(w, sectors, i, last->start + last->n,
              (payload->bytes + CARD_SECTOR - 1) / CARD_SECTOR, "loader", entry);
}

static void gpt_table(const struct card_writer *w, const struct card_options *o,
                      const struct card_layout *const *volumes, unsigned n, unsigned first,
                      uint64_t sectors, uint8_t *table)
{
    static const uint8_t basic_data[GUID] = { 0xa2, 0xa0, 0xd0, 0xeb, 0xe5, 0xb9, 0x33, 0x44,
                                              0x87, 0xc0, 0x68, 0xb6, 0xb7, 0x26, 0x99, 0xc7 };
    /* UEFI 2.10, 5.3.3: C12A7328-F81F-11D2-BA4B-00A0C93EC93B. */
    static const uint8_t efi_system[GUID] = { 0x28, 0x73, 0x2a, 0xc1, 0x1f, 0xf8, 0xd2, 0x11,
                                              0xba, 0x4b, 0x00, 0xa0, 0xc9, 0x3e, 0xc9, 0x3b };
    static const char *const names[CARD_MOST_VOLUMES] = { "Ingot", "Ingot models" };

    for (unsigned i = 0; i < n; i++) {
        uint8_t *entry = table + (size_t)(first + i) * GPT_ENTRY;

        memcpy(entry, w->efi && i == 0 ? efi_system : basic_data, GUID);
        gpt_entry(w, sectors, i, volumes[i]->start, volumes[i]->n, names[i], entry);
        if (first != 0 && i == 0) {
            entry[48] = LEGACY_BOOT; /* the GPT's counterpart of ACTIVE */
        }
    }
    if (o->payload != NULL) {
        gpt_payload(w, o->payload, volumes[n - 1], n, sectors,
                    table + (size_t)(first + n) * GPT_ENTRY);
    }
}

/* Write the header at one end of the disk; it points to the header at the other end. */
static enum err put_header(struct card_writer *w, uint64_t at, uint64_t other, uint64_t table,
                           uint64_t sectors, uint32_t table_crc)
{
    uint8_t h[CARD_SECTOR] = { 0 };

    memcpy(h, "EFI PART", 8);
    card_put_u32(h + 8, 0x00010000);
    card_put_u32(h + 12, GPT_HEADER_BYTES);
    card_put_u64(h + 24, at);
    card_put_u64(h + 32, other);
    card_put_u64(h + 40, GPT_FIRST_USABLE);
    card_put_u64(h + 48, sectors - 2 - GPT_TABLE_SECTORS);
    put_guid(w, sectors, 0, h + 56);
    card_put_u64(h + 72, table);
    card_put_u32(h + 80, GPT_ENTRIES);
    card_put_u32(h + 84, GPT_ENTRY);
    card_put_u32(h + 88, table_crc);
    card_put_u32(h + 16, partitions_crc32(0, h, GPT_HEADER_BYTES));
    return card_put(w, at * CARD_SECTOR, h, sizeof h);
}

static enum err put_gpt(struct card_writer *w, const struct card_options *o,
                        const struct card_layout *const *volumes, unsigned n, unsigned first,
                        uint64_t sectors)
{
    uint8_t table[GPT_TABLE_BYTES] = { 0 };
    uint64_t last = sectors - 1, copy = last - GPT_TABLE_SECTORS;
    uint32_t crc;
    enum err e;

    gpt_table(w, o, volumes, n, first, sectors, table);
    crc = partitions_crc32(0, table, sizeof table);
    e = put_header(w, 1, last, 2, sectors, crc);
    if (e == ERR_OK) {
        e = put_header(w, last, 1, copy, sectors, crc);
    }
    if (e == ERR_OK) {
        e = card_put(w, 2 * CARD_SECTOR, table, sizeof table);
    }
    return e == ERR_OK ? card_put(w, copy * CARD_SECTOR, table, sizeof table) : e;
}

enum err card_put_table(struct card_writer *w, const struct card_options *o,
                        const struct card_layout *const *volumes, unsigned n, uint64_t sectors)
{
    unsigned first = o->slot > 0 ? o->slot - 1 : 0;
    enum err e;

    if (o->table == CARD_MBR) {
        return put_mbr(w, volumes, n, first);
    }
    e = put_protective_mbr(w, sectors);
    return e == ERR_OK ? put_gpt(w, o, volumes, n, first, sectors) : e;
}
