#include "runtime/stream/expert_use.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/base/crc32c.h"
#include "runtime/text/format_text.h"

enum { VERSION = 1, MAGIC_BYTES = 8 };

static const char magic[] = "INGOTUSE";

/* For an expert, as it is in the payload. */
struct record {
    uint32_t taken, found;
};

/* Both halves of a file. */
struct halves {
    struct expert_use_header h[2];
    bool valid[2];
    unsigned newest; /* the newest valid number; 0 without any */
};

/* ---- sizes ---------------------------------------------------------------------------------- */

static uint32_t count_experts(const struct image *image)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < image->header->params.n_layers; i++) {
        n += image_layer(image, i)->n_experts;
    }
    return n;
}

static uint64_t to_sectors(uint64_t bytes)
{
    return (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES * SECTOR_BYTES;
}

static uint64_t payload_bytes(const struct image *image)
{
    return count_experts(image) * sizeof(struct record);
}

static uint64_t half_bytes(const struct file *file)
{
    return file->bytes / 2 / SECTOR_BYTES * SECTOR_BYTES;
}

uint64_t expert_use_bytes(const struct image *image)
{
    uint64_t bytes = payload_bytes(image);

    return bytes == 0 ? 0 : 2 * (SECTOR_BYTES + to_sectors(bytes));
}

/* ---- errors --------------------------------------------------------------------------------- */

static enum err io_error_message(struct expert_use *u, const struct file *file, enum err e,
                                 bool writes)
{
    if (e != ERR_OK) {
        format_text(u->error_message, sizeof u->error_message,
                    "%s: cannot %s at sector %llu of %s: %s", file->name, writes ? "write" : "read",
                    (unsigned long long)u->io.failed_sector, file->device->name,
                    block_device_reason(file->device, e));
    }
    return e;
}

static enum err refuse(struct expert_use *u, const struct file *file, enum err e, const char *why)
{
    format_text(u->error_message, sizeof u->error_message, "%s %s", file->name, why);
    return e;
}

static bool is_local(enum err e)
{
    return e == ERR_IO || e == ERR_BAD_CHECKSUM;
}

/* ---- headers -------------------------------------------------------------------------------- */

static uint32_t crc_of_header(const struct expert_use_header *h)
{
    struct expert_use_header copy = *h;

    copy.header_crc = 0;
    return crc32c(0, &copy, sizeof copy);
}

/* A sector that cannot be read is not a header. */
static enum err read_header(struct expert_use *u, const struct file *file, struct halves *halves,
                            unsigned half)
{
    const struct expert_use_header *h = &u->header;
    uint64_t room = half_bytes(file);
    enum err e;

    if (room < 2 * SECTOR_BYTES) {
        return ERR_OK;
    }
    e = file_read_now(&u->io, file, half * room, &u->header, SECTOR_BYTES);
    halves->h[half] = *h;
    halves->valid[half] = e == ERR_OK && memcmp(h->magic, magic, MAGIC_BYTES) == 0 &&
                          h->header_crc == crc_of_header(h);
    return io_error_message(u, file, is_local(e) ? ERR_OK : e, false);
}

static enum err read_halves(struct expert_use *u, const struct file *file, struct halves *halves)
{
    enum err e;

    memset(halves, 0, sizeof *halves);
    u->error_message[0] = '\0';
    e = read_header(u, file, halves, 0);
    if (e == ERR_OK) {
        e = read_header(u, file, halves, 1);
    }
    halves->newest = halves->valid[1] &&
                     (!halves->valid[0] || halves->h[1].sequence > halves->h[0].sequence);
    return e;
}

static enum err check_fit(struct expert_use *u, const struct file *file, const struct image *image,
                          const struct expert_use_header *h)
{
    if (h->version != VERSION) {
        return refuse(u, file, ERR_BAD_MODEL,
                      "was written by another version of Ingot: /save use writes it anew");
    }
    if (h->model_crc != image->header->header_crc32c || h->n != count_experts(image) ||
        half_bytes(file) < SECTOR_BYTES + to_sectors(payload_bytes(image))) {
        return refuse(u, file, ERR_BAD_MODEL, "belongs to another model: /save use writes it anew");
    }
    return ERR_OK;
}

/* ---- read ----------------------------------------------------------------------------------- */

/* The sink of counts while a payload passes: expert number `at` of the model is next. */
struct sink {
    const struct image *image;
    struct plan_use *found;
    struct stream_expert *all;
    uint32_t layer, in_layer, at;
};

static void put(struct sink *s, const struct record *r)
{
    while (s->in_layer == image_layer(s->image, s->layer)->n_experts) {
        s->layer++;
        s->in_layer = 0;
    }
    if (s->found != NULL) {
        s->found->found[s->in_layer] += r->found;
        s->found->total += r->found;
    }
    if (s->all != NULL) {
        s->all[s->at].taken = r->taken;
        s->all[s->at].found = r->found;
    }
    s->in_layer++;
    s->at++;
}

/* Read a half's payload, only for its CRC, or into a sink. */
static enum err pass(struct expert_use *u, const struct file *file, unsigned half,
                     const struct expert_use_header *h, struct sink *sink)
{
    uint64_t bytes = h->n * sizeof(struct record);
    uint64_t begin = half * half_bytes(file) + SECTOR_BYTES;
    uint32_t crc = 0;

    for (uint64_t at = 0; at < bytes; at += sizeof u->buffer) {
        size_t n = (size_t)min_u64(bytes - at, sizeof u->buffer);
        enum err e;

        memset(u->buffer, 0xa5,
               sizeof u->buffer); /* a read that brings nothing must not look good */
        e = io_error_message(u, file,
                             file_read_now(&u->io, file, begin + at, u->buffer,
                                           (size_t)to_sectors(n)),
                             false);
        if (e != ERR_OK) {
            return e;
        }
        crc = crc32c(crc, u->buffer, n);
        for (size_t i = 0; sink != NULL && i < n / sizeof(struct record); i++) {
            struct record r;

            memcpy(&r, u->buffer + i * sizeof r, sizeof r);
            put(sink, &r);
        }
    }
    if (crc != h->payload_crc) {
        return refuse(u, file, ERR_BAD_CHECKSUM, "is damaged: /save use writes it anew");
    }
    return ERR_OK;
}

static void clear(const struct image *image, struct plan_use *found, struct stream_expert *all)
{
    uint32_t n = count_experts(image);

    if (found != NULL) {
        memset(found, 0, sizeof *found);
    }
    for (uint32_t i = 0; i < n && all != NULL; i++) {
        all[i].taken = 0;
        all[i].found = 0;
    }
}

/* Nothing is stored before the CRC was right once; what is read for storing must have it again. */
static enum err read_half(struct expert_use *u, const struct file *file, unsigned half,
                          const struct expert_use_header *h, struct sink sink)
{
    enum err e = check_fit(u, file, sink.image, h);

    if (e == ERR_OK) {
        e = pass(u, file, half, h, NULL);
    }
    if (e != ERR_OK) {
        return e;
    }
    e = pass(u, file, half, h, &sink);
    if (e != ERR_OK) {
        clear(sink.image, sink.found, sink.all);
    }
    return e;
}

enum err expert_use_read(struct expert_use *u, const struct file *file, const struct image *image,
                         struct plan_use *found, struct stream_expert *all)
{
    struct sink sink = { .image = image, .found = found, .all = all };
    struct halves halves;
    unsigned half;
    enum err e = read_halves(u, file, &halves);

    clear(image, found, all);
    if (e != ERR_OK) {
        return e;
    }
    half = halves.newest;
    if (!halves.valid[half]) {
        return refuse(u, file, ERR_NOT_FOUND, "is empty: /save use writes it");
    }
    e = read_half(u, file, half, &halves.h[half], sink);
    if (is_local(e) && halves.valid[1 - half]) {
        e = read_half(u, file, 1 - half, &halves.h[1 - half], sink);
    }
    return e;
}

/* ---- written -------------------------------------------------------------------------------- */

static enum err check_room(struct expert_use *u, const struct file *file, const struct image *image)
{
    if (!file->device->writable) {
        return refuse(u, file, ERR_UNSUPPORTED, "is on a device that takes no writes");
    }
    if (half_bytes(file) * 2 < expert_use_bytes(image)) {
        format_text(u->error_message, sizeof u->error_message,
                    "%s is too small: it needs %llu bytes", file->name,
                    (unsigned long long)expert_use_bytes(image));
        return ERR_NO_SPACE;
    }
    return ERR_OK;
}

static enum err write_payload(struct expert_use *u, const struct file *file, unsigned half,
                              const struct stream_expert *all, struct expert_use_header *h)
{
    uint64_t begin = half * half_bytes(file) + SECTOR_BYTES;
    uint32_t most = sizeof u->buffer / sizeof(struct record);

    for (uint32_t at = 0; at < h->n; at += most) {
        uint32_t n = min_u32(h->n - at, most);
        size_t bytes = n * sizeof(struct record);
        enum err e;

        memset(u->buffer, 0, sizeof u->buffer);
        for (uint32_t i = 0; i < n; i++) {
            struct record r = { all[at + i].taken, all[at + i].found };

            memcpy(u->buffer + i * sizeof r, &r, sizeof r);
        }
        h->payload_crc = crc32c(h->payload_crc, u->buffer, bytes);
        e = file_write_now(&u->io, file, begin + at * sizeof(struct record), u->buffer,
                           (size_t)to_sectors(bytes));
        if (io_error_message(u, file, e, true) != ERR_OK) {
            return e;
        }
    }
    return pass(u, file, half, h, NULL);
}

static enum err write_header(struct expert_use *u, const struct file *file, unsigned half,
                             const struct expert_use_header *h)
{
    uint64_t at = half * half_bytes(file);
    enum err e;

    u->header = *h;
    u->header.header_crc = crc_of_header(h);
    e = io_error_message(u, file, file_write_now(&u->io, file, at, &u->header, SECTOR_BYTES), true);
    if (e != ERR_OK) {
        return e;
    }
    memset(u->buffer, 0, SECTOR_BYTES);
    e = io_error_message(u, file, file_read_now(&u->io, file, at, u->buffer, SECTOR_BYTES), false);
    if (e == ERR_OK && memcmp(u->buffer, &u->header, SECTOR_BYTES) != 0) {
        return refuse(u, file, ERR_BAD_CHECKSUM, "came back with other bytes than were written");
    }
    return e;
}

/* The newest valid half is kept. */
static unsigned choose_kept(struct expert_use *u, const struct file *file,
                            const struct image *image, const struct halves *halves)
{
    unsigned newest = halves->newest;

    if (halves->valid[newest] && halves->valid[1 - newest] &&
        (check_fit(u, file, image, &halves->h[newest]) != ERR_OK ||
         pass(u, file, newest, &halves->h[newest], NULL) != ERR_OK)) {
        return 1 - newest;
    }
    return newest;
}

enum err expert_use_write(struct expert_use *u, const struct file *file, const struct image *image,
                          const struct stream_expert *all)
{
    struct expert_use_header new = { .version = VERSION,
                                     .model_crc = image->header->header_crc32c,
                                     .n = count_experts(image) };
    struct halves halves;
    unsigned half;
    enum err e = check_room(u, file, image);

    if (e == ERR_OK) {
        e = read_halves(u, file, &halves);
    }
    if (e != ERR_OK) {
        return e;
    }
    memcpy(new.magic, magic, MAGIC_BYTES);
    half = 1 - choose_kept(u, file, image, &halves);
    new.sequence = 1;
    if (halves.valid[halves.newest]) {
        new.sequence = halves.h[halves.newest].sequence + 1;
    }
    e = write_payload(u, file, half, all, &new);
    if (e != ERR_OK) {
        return e;
    }
    return write_header(u, file, half, &new);
}
