#include "runtime/features/adapters/adapters_private.h"

#include <assert.h>
#include <string.h>

#include "board/min_max.h"
#include "kernels/ref/scalar.h"
#include "runtime/base/crc32c.h"
#include "runtime/image/adapter_image.h"
#include "runtime/text/format_text.h"

enum { BLOCK = 32, BLOCK_BYTES = 34 }; /* values and bytes of a block of Q8_0 in a file */

void adapters_open(struct adapters *a, struct memory_range memory, const struct image *image,
                   const struct kernels *kernels, uint32_t chunk)
{
    uintptr_t start = ((uintptr_t)memory.base + ADAPTER_ALIGN - 1) / ADAPTER_ALIGN * ADAPTER_ALIGN;
    size_t skip = start - (uintptr_t)memory.base;

    memset(a, 0, sizeof *a);
    a->memory = memory;
    if (memory.bytes > skip) {
        a->memory.base = (uint8_t *)memory.base + skip;
        a->memory.bytes = (memory.bytes - skip) / ADAPTER_ALIGN * ADAPTER_ALIGN;
    } else {
        a->memory.bytes = 0;
    }
    a->end = a->memory.base;
    a->image = image;
    a->kernels = kernels;
    a->chunk = chunk;
}

/* Q8_0 becomes F16, which takes less than twice the memory; the rest is the work space of a few
 * adapters. */
uint64_t adapters_room(uint64_t file_bytes)
{
    return 2 * file_bytes + 8 * INGOT_PAGE;
}

struct adapters_entry *adapters_entry(struct adapters *a, const char *name)
{
    for (uint32_t i = 0; i < ADAPTERS_MOST && name[0] != '\0'; i++) {
        if (strcmp(a->entries[i].name, name) == 0) {
            return &a->entries[i];
        }
    }
    return NULL;
}

const struct lora_adapter *adapters_find(const struct adapters *a, const char *name)
{
    for (uint32_t i = 0; i < ADAPTERS_MOST && name[0] != '\0'; i++) {
        if (strcmp(a->entries[i].name, name) == 0) {
            return &a->entries[i].adapter;
        }
    }
    return NULL;
}

/* ---- room ------------------------------------------------------------------------------------ */

bool adapters_is_at_work(const struct adapters *a, const struct adapters_entry *e)
{
    for (uint32_t i = 0; i < a->n_sets; i++) {
        for (uint32_t j = 0; j < a->sets[i].n; j++) {
            if (a->sets[i].uses[j].adapter == &e->adapter) {
                return true;
            }
        }
    }
    return false;
}

/* Return the end of the adapters' room, where the work space of the sets in use begins. */
static uint8_t *room_end(const struct adapters *a)
{
    uint8_t *end = (uint8_t *)a->memory.base + a->memory.bytes;

    for (uint32_t i = 0; i < a->n_sets; i++) {
        if (a->sets[i].n != 0 && (uint8_t *)a->sets[i].u < end) {
            end = (uint8_t *)a->sets[i].u;
        }
    }
    return end;
}

static void set_pointers(struct adapters_entry *e)
{
    e->adapter.header = (const void *)e->base;
    e->adapter.pairs = (const void *)(e->base + sizeof(struct adapter_header));
    e->adapter.data = e->base + sizeof(struct adapter_header) +
                      adapter_table_bytes(e->adapter.header);
}

/* Drop an adapter; those after it move up. */
static void forget(struct adapters *a, struct adapters_entry *gone)
{
    uint8_t *from = gone->base + gone->bytes;
    size_t bytes = gone->bytes;

    memmove(gone->base, from, (size_t)(a->end - from));
    a->end -= bytes;
    for (uint32_t i = 0; i < ADAPTERS_MOST; i++) {
        struct adapters_entry *e = &a->entries[i];

        if (e->name[0] != '\0' && e->base >= from) {
            e->base -= bytes;
            set_pointers(e);
        }
    }
    memset(gone, 0, sizeof *gone);
}

bool adapters_forget_oldest(struct adapters *a)
{
    struct adapters_entry *oldest = NULL;

    for (uint32_t i = 0; i < ADAPTERS_MOST; i++) {
        struct adapters_entry *e = &a->entries[i];

        if (e->name[0] != '\0' && !adapters_is_at_work(a, e) &&
            (oldest == NULL || e->used < oldest->used)) {
            oldest = e;
        }
    }
    if (oldest == NULL) {
        return false;
    }
    forget(a, oldest);
    return true;
}

static struct adapters_entry *find_free(struct adapters *a)
{
    for (uint32_t i = 0; i < ADAPTERS_MOST; i++) {
        if (a->entries[i].name[0] == '\0') {
            return &a->entries[i];
        }
    }
    return NULL;
}

/* ---- loading --------------------------------------------------------------------------------- */

enum err adapters_refuse(struct adapters *a, enum err e, const char *name, const char *format, ...)
{
    char error_message[ADAPTERS_ERROR_MESSAGE_BYTES / 2];
    va_list args;

    va_start(args, format);
    (void)format_text_args(error_message, sizeof error_message, format, args);
    va_end(args);
    format_text(a->error_message, sizeof a->error_message, "adapter %.100s: %s", name,
                error_message);
    return e;
}

struct loading {
    const char *name;
    const struct file *file;
    stream_progress_fn *progress;
    void *context;
    uint64_t done;                                                    /* bytes */
    uint8_t digests[SIGNATURE_ADAPTER_PARTS][SIGNATURE_DIGEST_BYTES]; /* set if files must be
                                                                       * signed */
};

static enum err read_part(struct adapters *a, struct loading *l, uint64_t offset, void *to,
                          uint64_t bytes)
{
    bool stopped = false;
    enum err e;

    (void)file_read_start(&a->read, l->file, offset, to, (size_t)bytes); /* an error shows in the
                                                                          * next poll */
    do {
        e = file_read_poll(&a->read);
        if (!stopped && l->progress != NULL &&
            !l->progress(l->context, "loading the adapter", l->done + a->read.bytes_done,
                         l->file->bytes)) {
            stopped = true;
            file_read_stop(&a->read);
        }
    } while (e == ERR_BUSY);
    l->done += bytes;
    if (stopped) {
        return adapters_refuse(a, ERR_ABORTED, l->name, "%s", err_text(ERR_ABORTED));
    }
    if (e != ERR_OK) {
        return adapters_refuse(a, e, l->name, "sector %lu of %s: %s",
                               (unsigned long)a->read.failed_sector, l->file->device->name,
                               block_device_reason(l->file->device, e));
    }
    return ERR_OK;
}

/* Return the most memory that the adapter of a->header takes: Q8_0 becomes F16, which takes less
 * than twice the memory. */
static uint64_t most_bytes(const struct adapters *a)
{
    const struct adapter_header *h = &a->header;
    uint64_t bytes = h->file_bytes;

    if (h->type == INGOT_Q8_0) {
        bytes += h->data_bytes;
    }
    return bytes;
}

/* Convert numbers from Q8_0 to F16, into memory in front of them. Each result is the product of
 * scale and number, rounded once. */
static void widen(const struct kernels *k, uint16_t *to, const uint8_t *from, uint64_t n)
{
    for (uint64_t i = 0; i < n; i += BLOCK, from += BLOCK_BYTES) {
        size_t m = (size_t)min_u64(n - i, BLOCK);
        float scale = f32_from_f16((uint16_t)(from[0] | from[1] << 8)), values[BLOCK];

        for (size_t j = 0; j < m; j++) {
            values[j] = scale * (float)(int8_t)from[2 + j];
        }
        k->convert_f16_f32(to + i, values, m);
    }
}

/* Convert Q8_0 data, which lies at the end of its room. Each matrix grows, but never overwrites the
 * next matrix before the next matrix is converted. Returns the size. */
static uint64_t widen_all(struct adapters *a, struct adapters_entry *e, struct adapter_pair *pairs,
                          const uint8_t *from)
{
    uint8_t *data = e->base + sizeof(struct adapter_header) +
                    adapter_table_bytes(e->adapter.header);
    uint64_t to = 0;

    for (uint32_t i = 0; i < e->adapter.header->n_pairs; i++) {
        struct adapter_pair *p = &pairs[i];
        uint64_t n = adapter_a_numbers(p);

        widen(a->kernels, (void *)(data + to), from + p->a, n);
        p->a = to;
        to += adapter_type_bytes(INGOT_F16, n);
        n = adapter_b_numbers(p);
        widen(a->kernels, (void *)(data + to), from + p->b, n);
        p->b = to;
        to += adapter_type_bytes(INGOT_F16, n);
    }
    return to;
}

static bool halves_are_finite(const uint16_t *x, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        if ((x[i] & 0x7c00u) == 0x7c00u) {
            return false;
        }
    }
    return true;
}

static bool floats_are_finite(const float *x, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        if ((f32_bits(x[i]) & 0x7f800000u) == 0x7f800000u) {
            return false;
        }
    }
    return true;
}

/* Check that all numbers are finite; kernels rely on this. */
static enum err check_finite(struct adapters *a, const struct lora_adapter *l, const char *name)
{
    for (uint32_t i = 0; i < l->header->n_pairs; i++) {
        const struct adapter_pair *p = &l->pairs[i];
        uint64_t n_a = adapter_a_numbers(p), n_b = adapter_b_numbers(p);
        bool good;

        if (l->type == INGOT_F16) {
            good = halves_are_finite((const void *)(l->data + p->a), n_a) &&
                   halves_are_finite((const void *)(l->data + p->b), n_b);
        } else {
            good = floats_are_finite((const void *)(l->data + p->a), n_a) &&
                   floats_are_finite((const void *)(l->data + p->b), n_b);
        }
        if (!good) {
            return adapters_refuse(a, ERR_BAD_MODEL, name,
                                   "%s of layer %u has a weight that is not finite",
                                   image_role_name(p->role), (unsigned)p->layer);
        }
    }
    return ERR_OK;
}

/* Find room for `bytes` after the loaded adapters. */
static enum err make_room(struct adapters *a, const char *name, uint64_t bytes)
{
    char needs[FORMAT_NUMBER_BYTES], has[FORMAT_NUMBER_BYTES];

    while (bytes > (uint64_t)(room_end(a) - a->end)) {
        if (!adapters_forget_oldest(a)) {
            return adapters_refuse(
                a, ERR_NO_SPACE, name,
                "it takes %s, but %s is left for adapters: adapters=SIZE makes more",
                format_bytes(needs, bytes), format_bytes(has, (uint64_t)(room_end(a) - a->end)));
        }
    }
    return ERR_OK;
}

static enum err load_header(struct adapters *a, struct loading *l)
{
    char error_message[ADAPTER_ERROR_MESSAGE_BYTES];
    enum err e;

    if (l->file->bytes < sizeof a->header) {
        return adapters_refuse(a, ERR_TRUNCATED, l->name, "it is too short to be an adapter");
    }
    e = read_part(a, l, 0, &a->header, sizeof a->header);
    if (e != ERR_OK) {
        return e;
    }
    e = adapter_check_header(&a->header, l->file->bytes, error_message);
    return e == ERR_OK ? ERR_OK : adapters_refuse(a, e, l->name, "%s", error_message);
}

/* ---- signatures ------------------------------------------------------------------------------ */

/* Check that part number `part` is the one that was signed. */
static enum err check_signed_part(struct adapters *a, const struct loading *l, unsigned part,
                                  const void *data, uint64_t bytes)
{
    static const char *const names[SIGNATURE_ADAPTER_PARTS] = { "header", "table", "data" };
    const struct signing *g = a->signing;
    uint8_t digest[SIGNATURE_DIGEST_BYTES];
    struct tree_digest d;

    if (g == NULL) {
        return ERR_OK;
    }
    g->begin_digest(&d);
    g->add_digest(&d, NULL, data, (size_t)bytes);
    g->end_digest(&d, digest);
    if (memcmp(digest, l->digests[part], sizeof digest) != 0) {
        return adapters_refuse(a, ERR_NOT_SIGNED, l->name, "its %s is %s", names[part],
                               err_text(ERR_NOT_SIGNED));
    }
    return ERR_OK;
}

/* Read the signatures after the file into the entry's room, and check the header with them. */
static enum err check_signature(struct adapters *a, struct loading *l,
                                const struct adapters_entry *entry)
{
    const struct signature_block *block = (const void *)entry->base;
    uint64_t bytes = signature_block_bytes(SIGNATURE_ADAPTER_PARTS);
    char error_message[SIGNING_ERROR_MESSAGE_BYTES];
    enum err e;

    if (a->signing == NULL) {
        return ERR_OK;
    }
    if (l->file->bytes < a->header.file_bytes + bytes) {
        return adapters_refuse(a, ERR_NOT_SIGNED, l->name,
                               "it is not signed: sign it with `ingot sign ADAPTER --key KEY.pem`");
    }
    e = read_part(a, l, a->header.file_bytes, entry->base, bytes);
    if (e != ERR_OK) {
        return e;
    }
    e = a->signing->check_block(a->signing, block, a->header.file_bytes, SIGNATURE_ADAPTER_PARTS,
                                error_message);
    if (e != ERR_OK) {
        return adapters_refuse(a, e, l->name, "%s", error_message);
    }
    memcpy(l->digests, block->digests, sizeof l->digests);
    return check_signed_part(a, l, 0, &a->header, sizeof a->header);
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Read the table, which follows the header. */
static enum err load_pairs(struct adapters *a, struct loading *l, struct adapters_entry *entry)
{
    struct adapter_pair *pairs = (void *)(entry->base + sizeof a->header);
    char error_message[ADAPTER_ERROR_MESSAGE_BYTES];
    enum err e = read_part(a, l, sizeof a->header, pairs, adapter_table_bytes(&a->header));

    if (e == ERR_OK) {
        e = check_signed_part(a, l, 1, pairs, adapter_table_bytes(&a->header));
    }
    if (e != ERR_OK) {
        return e;
    }
    e = adapter_check_pairs(&a->header, pairs, error_message);
    if (e == ERR_OK) {
        e = adapter_check_base(&a->header, pairs, a->image, error_message);
    }
    return e == ERR_OK ? ERR_OK : adapters_refuse(a, e, l->name, "%s", error_message);
}

/* Read the matrices, which follow the table. Q8_0 matrices are read to the end of the room
 * first. */
static enum err load_data(struct adapters *a, struct loading *l, struct adapters_entry *entry)
{
    size_t front = sizeof a->header + (size_t)adapter_table_bytes(&a->header);
    uint8_t *at = entry->base + front;
    enum err e;

    if (a->header.type == INGOT_Q8_0) {
        at = entry->base + entry->bytes - a->header.data_bytes;
    }
    e = read_part(a, l, front, at, a->header.data_bytes);
    if (e != ERR_OK) {
        return e;
    }
    if (crc32c(0, at, (size_t)a->header.data_bytes) != a->header.data_crc32c) {
        return adapters_refuse(a, ERR_BAD_CHECKSUM, l->name,
                               "its weights are damaged: copy it again");
    }
    e = check_signed_part(a, l, 2, at, a->header.data_bytes);
    if (e != ERR_OK) {
        return e;
    }
    entry->adapter.type = a->header.type;
    if (a->header.type == INGOT_Q8_0) {
        entry->bytes = front +
                       (size_t)widen_all(a, entry, (void *)(entry->base + sizeof a->header), at);
        entry->adapter.type = INGOT_F16;
    }
    return check_finite(a, &entry->adapter, l->name);
}

static enum err load(struct adapters *a, struct loading *l, struct adapters_entry *entry)
{
    enum err e = load_header(a, l);

    if (e == ERR_OK) {
        e = make_room(a, l->name, most_bytes(a));
    }
    if (e != ERR_OK) {
        return e;
    }
    entry->base = a->end;
    entry->bytes = (size_t)most_bytes(a);
    e = check_signature(a, l, entry);
    if (e != ERR_OK) {
        return e;
    }
    memcpy(entry->base, &a->header, sizeof a->header);
    set_pointers(entry);
    e = load_pairs(a, l, entry);
    return e == ERR_OK ? load_data(a, l, entry) : e;
}

enum err adapters_load(struct adapters *a, const char *name, const struct file *file,
                       stream_progress_fn *progress, void *context)
{
    struct loading l = { .name = name, .file = file, .progress = progress, .context = context };
    struct adapters_entry *entry = adapters_entry(a, name);
    enum err e;

    if (entry != NULL) {
        assert(!adapters_is_at_work(a, entry));
        forget(a, entry);
    }
    if (find_free(a) == NULL) {
        (void)adapters_forget_oldest(a); /* an unused adapter exists, because fewer can be in use
                                          * than there are entries */
    }
    entry = find_free(a);
    e = load(a, &l, entry);
    if (e != ERR_OK) {
        memset(entry, 0, sizeof *entry);
        return e;
    }
    format_text(entry->name, sizeof entry->name, "%s", name);
    entry->used = ++a->n_uses;
    a->end += entry->bytes;
    return ERR_OK;
}
