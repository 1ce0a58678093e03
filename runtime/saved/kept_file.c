/* Blocks of prompts in a file: its header, a table, and slots. */
#include <string.h>

#include "board/min_max.h"
#include "runtime/base/crc32c.h"
#include "runtime/saved/kept_private.h"
#include "runtime/text/format_text.h"

enum { KEPT_VERSION = 1 };

/* No file reaches these counts, so rows with larger counts are damaged, and k's counts never
 * overflow. */
#define COUNT_MOST ((uint64_t)1 << 62)

/* Little-endian, like everything on a card. */
struct file_header {
    char magic[8]; /* "INGOTKPT" */
    uint32_t version;
    uint32_t header_crc; /* CRC-32C of the sector with this field zero */
    uint32_t image_crc;  /* the model's own header_crc32c */
    uint32_t distance, n_slots;
    uint16_t kv_keys, kv_values;
    uint64_t keys_bytes, marks_bytes;
    uint8_t zeros[464];
};
_Static_assert(sizeof(struct file_header) == SECTOR_BYTES, "written in one piece");

struct slot_header {
    char magic[8]; /* "INGOTKPB" */
    uint32_t header_crc;
    uint32_t model;
    uint64_t serial, parent, hash, used;
    uint32_t end, has_mark;
    uint32_t keys_crc, marks_crc;
    uint8_t zeros[448];
};
_Static_assert(sizeof(struct slot_header) == SECTOR_BYTES, "written in one piece");

static const char file_magic[8] = "INGOTKPT", slot_magic[8] = "INGOTKPB";

static uint64_t table_at(uint32_t i)
{
    return (1 + (uint64_t)i) * SECTOR_BYTES;
}

static uint64_t slot_at(const struct kept *k, uint32_t i)
{
    return table_at(k->n_card) + i * (uint64_t)(k->keys_bytes + k->marks_bytes);
}

/* CRC-32C of a sector, with its field `crc` taken as zero. */
static uint32_t sector_crc(const void *sector, const uint32_t *crc)
{
    return crc32c_of_header(sector, SECTOR_BYTES, crc);
}

/* Stop using the file. */
static void give_up(struct kept *k, enum err e, bool writes)
{
    k->n_card = 0;
    format_text(k->error_message, sizeof k->error_message,
                "%.100s: %s, sector %lu: prompts are kept only in memory from now on",
                k->file->name, writes ? "a write failed" : err_text(e),
                (unsigned long)k->io.failed_sector);
}

static bool read_bytes(struct kept *k, uint64_t at, void *to, size_t bytes)
{
    enum err e = file_read_now(&k->io, k->file, at, to, bytes);

    if (e != ERR_OK) {
        give_up(k, e, false);
    }
    return e == ERR_OK;
}

static bool write_bytes(struct kept *k, uint64_t at, const void *from, size_t bytes)
{
    enum err e = file_write_now(&k->io, k->file, at, from, bytes);

    if (e != ERR_OK) {
        give_up(k, e, true);
    }
    return e == ERR_OK;
}

/* ---- opening -------------------------------------------------------------------------------- */

static void describe(const struct kept *k, const struct session *s, struct file_header *h)
{
    memset(h, 0, sizeof *h);
    memcpy(h->magic, file_magic, sizeof h->magic);
    h->version = KEPT_VERSION;
    h->image_crc = s->model->image.header->header_crc32c;
    h->distance = k->distance;
    h->n_slots = k->n_card;
    h->kv_keys = (uint16_t)s->kv.types.keys;
    h->kv_values = (uint16_t)s->kv.types.values;
    h->keys_bytes = k->keys_bytes;
    h->marks_bytes = k->marks_bytes;
    h->header_crc = sector_crc(h, &h->header_crc);
}

static bool is_zeros(const uint8_t *sector)
{
    return sector[0] == 0 && memcmp(sector, sector + 1, SECTOR_BYTES - 1) == 0;
}

static void take_header(struct kept *k, uint32_t i, const struct slot_header *h)
{
    if (memcmp(h->magic, slot_magic, sizeof h->magic) != 0 ||
        h->header_crc != sector_crc(h, &h->header_crc) || h->serial > COUNT_MOST ||
        h->used > COUNT_MOST) {
        return;
    }
    k->card[i] = (struct kept_block){ .serial = h->serial,
                                      .parent = h->parent,
                                      .hash = h->hash,
                                      .used = h->used,
                                      .model = h->model,
                                      .end = h->end,
                                      .has_mark = h->has_mark != 0,
                                      .keys_crc = h->keys_crc,
                                      .marks_crc = h->marks_crc };
    /* Serials continue after the highest in the file, so that none is used twice. */
    k->serial = max_u64(k->serial, h->serial);
    k->clock = max_u64(k->clock, h->used);
}

/* Read the table, with a free slot in memory as the buffer. Return false if the card failed, or if
 * `blank` is set and a row is not zero. */
static bool read_table(struct kept *k, bool blank)
{
    uint8_t *buffer = k->slots;
    uint32_t at_once = (uint32_t)((k->keys_bytes + k->marks_bytes) / SECTOR_BYTES);

    for (uint32_t i = 0; i < k->n_card; i += at_once) {
        uint32_t n = min_u32(at_once, k->n_card - i);

        if (!read_bytes(k, table_at(i), buffer, (size_t)n * SECTOR_BYTES)) {
            return false;
        }
        /* A damaged row means an empty slot, not an error, because a write may have been
         * interrupted. */
        for (uint32_t j = 0; j < n; j++) {
            const uint8_t *sector = buffer + (size_t)j * SECTOR_BYTES;

            if (blank && !is_zeros(sector)) {
                return false;
            }
            if (!blank) {
                take_header(k, i + j, (const void *)sector);
            }
        }
    }
    return true;
}

/* Drop the slots of another model: write a table of zeros, then the new header. */
static void begin_anew(struct kept *k, const struct file_header *h)
{
    uint32_t at_once = (uint32_t)((k->keys_bytes + k->marks_bytes) / SECTOR_BYTES);
    uint8_t *buffer = k->slots;

    memset(buffer, 0, k->keys_bytes + k->marks_bytes);
    for (uint32_t i = 0; i < k->n_card; i += at_once) {
        uint32_t n = min_u32(at_once, k->n_card - i);

        if (!write_bytes(k, table_at(i), buffer, (size_t)n * SECTOR_BYTES)) {
            return;
        }
    }
    /* The header is written last. Until then the file still belongs to the other model, with fewer
     * blocks. */
    memcpy(buffer, h, sizeof *h);
    (void)write_bytes(k, 0, buffer, sizeof *h);
}

/* Do not use the file, which stays unchanged. */
static void refuse(struct kept *k, const char *why)
{
    k->n_card = 0;
    format_text(k->error_message, sizeof k->error_message,
                "%.100s: %s: it is not changed, and prompts are kept only in memory; replace it by "
                "a file of zeros",
                k->file->name, why);
}

/* Called if the first sector is not a header of this model. Return true if the file is empty or
 * belongs to another model, and may be used for this model. */
static bool may_begin(struct kept *k)
{
    struct file_header h;
    char version[40];

    memcpy(&h, k->slots, sizeof h);
    /* A file that is zero everywhere is new. Anything after the zeros may be somebody's data. */
    if (is_zeros(k->slots)) {
        if (read_table(k, true)) {
            return true;
        }
        if (k->error_message[0] == '\0') {
            refuse(k, "it is not a file of kept prompts");
        }
    } else if (memcmp(h.magic, file_magic, sizeof h.magic) != 0) {
        refuse(k, "it is not a file of kept prompts");
    } else if (h.header_crc != sector_crc(&h, &h.header_crc)) {
        refuse(k, "its header is damaged");
    } else if (h.version != KEPT_VERSION) {
        format_text(version, sizeof version, "its version is %u, not %u", (unsigned)h.version,
                    (unsigned)KEPT_VERSION);
        refuse(k, version);
    } else {
        k->of_another = true;
        return true;
    }
    return false;
}

void kept_file_open(struct kept *k, const struct session *s)
{
    struct file_header h;
    uint64_t n;

    if (k->file == NULL) {
        return;
    }
    n = k->file->bytes / SECTOR_BYTES;
    /* A block takes a sector of the table and its slot; the header takes one sector. */
    n = n == 0 ? 0 : (n - 1) / (1 + (k->keys_bytes + k->marks_bytes) / SECTOR_BYTES);
    k->n_card = (uint32_t)min_u64(n, KEPT_BLOCKS_MOST);
    if (k->n_card == 0) {
        format_text(k->error_message, sizeof k->error_message,
                    "%.100s: too small for one block of %u tokens: prompts are kept only in memory",
                    k->file->name, (unsigned)k->distance);
        return;
    }
    memset(k->card, 0, k->n_card * sizeof *k->card);
    describe(k, s, &h);
    if (!read_bytes(k, 0, k->slots, SECTOR_BYTES)) {
        return;
    }
    /* Headers are equal in every byte if model, types, distance and number of slots are the
     * same. */
    if (memcmp(k->slots, &h, sizeof h) == 0) {
        (void)read_table(k, false);
    } else if (may_begin(k)) {
        begin_anew(k, &h);
    }
}

/* ---- blocks --------------------------------------------------------------------------------- */

static bool is_right(struct kept *k, uint32_t i, const uint8_t *bytes, size_t n, uint32_t crc)
{
    if (crc32c(0, bytes, n) == crc) {
        return true;
    }
    /* Forget a damaged block; its slot is free for another block. */
    k->card[i].serial = 0;
    return false;
}

bool kept_file_read_keys(struct kept *k, uint32_t i, uint32_t to)
{
    uint8_t *place = kept_slot(k, to);

    if (!read_bytes(k, slot_at(k, i), place, k->keys_bytes)) {
        return false;
    }
    k->n_read++;
    return is_right(k, i, place, k->keys_bytes, k->card[i].keys_crc);
}

bool kept_file_read_marks(struct kept *k, uint32_t i, uint32_t to)
{
    uint8_t *place = kept_slot(k, to) + k->keys_bytes;

    if (!k->card[i].has_mark) {
        return false;
    }
    return k->marks_bytes == 0 ||
           (read_bytes(k, slot_at(k, i) + k->keys_bytes, place, k->marks_bytes) &&
            is_right(k, i, place, k->marks_bytes, k->card[i].marks_crc));
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Return the place in the file of a block in memory; the file may lack the block's mark. Return
 * KEPT_NONE if the file lacks the block. */
static uint32_t place_of(const struct kept *k, const struct kept_block *b)
{
    return kept_find_serial(k->card, k->n_card, b->serial);
}

static bool is_missing(const struct kept *k, const struct kept_block *b)
{
    uint32_t at;

    if (b->serial == 0 || !b->wanted) {
        return false;
    }
    at = place_of(k, b);
    return at == KEPT_NONE || (b->has_mark && !k->card[at].has_mark);
}

/* Return the earliest block that must be written, because parents are written before children. */
static uint32_t next_missing(const struct kept *k)
{
    uint32_t best = KEPT_NONE;

    for (uint32_t i = 0; i < k->n_memory; i++) {
        if ((best == KEPT_NONE || k->memory[i].serial < k->memory[best].serial) &&
            is_missing(k, &k->memory[i])) {
            best = i;
        }
    }
    return best;
}

static void write_block(struct kept *k, uint32_t from, uint32_t to)
{
    _Alignas(64) struct slot_header h = { .header_crc = 0 };
    uint8_t *bytes = kept_slot(k, from);
    struct kept_block *b = &k->card[to];

    *b = k->memory[from];
    b->keys_crc = crc32c(0, bytes, k->keys_bytes);
    b->marks_crc = b->has_mark ? crc32c(0, bytes + k->keys_bytes, k->marks_bytes) : 0;
    memcpy(h.magic, slot_magic, sizeof h.magic);
    h.model = b->model;
    h.serial = b->serial;
    h.parent = b->parent;
    h.hash = b->hash;
    h.used = b->used;
    h.end = b->end;
    h.has_mark = b->has_mark;
    h.keys_crc = b->keys_crc;
    h.marks_crc = b->marks_crc;
    h.header_crc = sector_crc(&h, &h.header_crc);
    /* The slot is written first and its row last, so a row never names bytes that were not
     * written. */
    if (write_bytes(k, slot_at(k, to), bytes, k->keys_bytes + k->marks_bytes) &&
        write_bytes(k, table_at(to), &h, sizeof h)) {
        k->n_written++;
    }
}

bool kept_waits(const struct kept *k)
{
    return k->n_card != 0 && next_missing(k) != KEPT_NONE;
}

void kept_leave_file(struct kept *k, const char *why)
{
    k->n_card = 0;
    format_text(k->error_message, sizeof k->error_message, "prompts are kept only in memory: %s",
                why);
}

bool kept_write(struct kept *k)
{
    uint32_t from = k->n_card != 0 ? next_missing(k) : KEPT_NONE, to;
    struct kept_block *b;

    if (from == KEPT_NONE) {
        return false;
    }
    b = &k->memory[from];
    /* If the file has the block without its mark, the block is written again in the same place. */
    to = place_of(k, b);
    if (to == KEPT_NONE) {
        to = kept_oldest(k->card, k->n_card, UINT64_MAX, b->parent);
    }
    /* A block cannot be found without its parent, and a sequence with more blocks than the file has
     * would overwrite itself. */
    if (to == KEPT_NONE || b->end / k->distance > k->n_card ||
        (b->parent != 0 && kept_find_serial(k->card, k->n_card, b->parent) == KEPT_NONE)) {
        b->wanted = false;
        return true;
    }
    write_block(k, from, to);
    return true;
}
