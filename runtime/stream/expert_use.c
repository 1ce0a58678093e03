#include "runtime/stream/expert_use.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/base/crc32c.h"
#include "runtime/storage/file_mark.h"
#include "runtime/text/format_text.h"

enum { VERSION = 1, MAGIC_BYTES = 8 };

static const char magic[] = "INGOTUSE";

/* The counts of an expert in the payload. */
struct record {
    uint32_t taken, found;
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

static uint64_t payload_bytes(const struct image *image)
{
    return count_experts(image) * sizeof(struct record);
}

uint64_t expert_use_bytes(const struct image *image)
{
    uint64_t bytes = payload_bytes(image);

    return bytes == 0 ? 0 : 2 * (SECTOR_BYTES + halves_to_sectors(bytes));
}

/* ---- errors --------------------------------------------------------------------------------- */

static enum err refuse(struct expert_use *u, const struct file *file, enum err e, const char *why)
{
    format_text(u->error_message, sizeof u->error_message, "%s %s", file->name, why);
    return e;
}

/* ---- headers -------------------------------------------------------------------------------- */

static const struct expert_use_header *header_of(const struct expert_use *u, unsigned half)
{
    return (const void *)&u->halves.h[half];
}

static enum err read_headers(struct expert_use *u, const struct file *file)
{
    halves_begin(&u->halves, file, u->buffer, sizeof u->buffer, u->error_message,
                 sizeof u->error_message);
    return halves_read(&u->halves, magic);
}

static enum err check_fit(struct expert_use *u, const struct file *file, const struct image *image,
                          const struct expert_use_header *h)
{
    if (h->version != VERSION) {
        return refuse(u, file, ERR_BAD_MODEL,
                      "was written by another version of Ingot: /save use writes it anew");
    }
    if (h->model_crc != image->header->header_crc32c || h->n != count_experts(image) ||
        halves_room(file) < SECTOR_BYTES + halves_to_sectors(payload_bytes(image))) {
        return refuse(u, file, ERR_BAD_MODEL, "belongs to another model: /save use writes it anew");
    }
    return ERR_OK;
}

/* ---- read ----------------------------------------------------------------------------------- */

/* Takes the counts of a payload that is being read. Expert number `at` is next. */
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

/* Put the records of a buffer into a sink (halves_look_fn). */
static enum err put_all(void *context, uint64_t at, const uint8_t *bytes, size_t n)
{
    (void)at;
    for (size_t i = 0; i < n / sizeof(struct record); i++) {
        struct record r;

        memcpy(&r, bytes + i * sizeof r, sizeof r);
        put(context, &r);
    }
    return ERR_OK;
}

/* Read the payload of a half into a sink or, without a sink, only for its CRC. */
static enum err pass(struct expert_use *u, unsigned half, const struct expert_use_header *h,
                     struct sink *sink)
{
    uint32_t crc;
    enum err e = halves_pass(&u->halves, half, h->n * sizeof(struct record),
                             sink == NULL ? NULL : put_all, sink, &crc);

    if (e == ERR_OK && crc != h->payload_crc) {
        return refuse(u, u->halves.file, ERR_BAD_CHECKSUM, "is damaged: /save use writes it again");
    }
    return e;
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

/* Read a half twice. The first read must give the right CRC, and so must the second, which stores
 * the counts. */
static enum err read_half(struct expert_use *u, unsigned half, struct sink sink)
{
    const struct expert_use_header *h = header_of(u, half);
    enum err e = check_fit(u, u->halves.file, sink.image, h);

    if (e == ERR_OK) {
        e = pass(u, half, h, NULL);
    }
    if (e != ERR_OK) {
        return e;
    }
    e = pass(u, half, h, &sink);
    if (e != ERR_OK) {
        clear(sink.image, sink.found, sink.all);
    }
    return e;
}

/* Say what the file is, because neither half is a save of this kind. */
static enum err say_what_it_is(struct expert_use *u, const struct file *file)
{
    const struct half_header *h = u->halves.h;
    const struct file_mark *mark = file_mark_find(h[0].magic);

    if (mark == NULL) { /* the first save of a file goes to its second half */
        mark = file_mark_find(h[1].magic);
    }
    if (mark == NULL) {
        return refuse(u, file, ERR_NOT_FOUND, "is empty: /save use writes it");
    }
    if (memcmp(mark->magic, magic, MAGIC_BYTES) == 0) {
        return refuse(u, file, ERR_BAD_CHECKSUM, "is damaged: /save use writes it anew");
    }
    format_text(u->error_message, sizeof u->error_message,
                "%s is %s, not a count of experts: %s; or /save use overwrites it", file->name,
                mark->what, mark->cure);
    return ERR_BAD_MODEL;
}

enum err expert_use_read(struct expert_use *u, const struct file *file, const struct image *image,
                         struct plan_use *found, struct stream_expert *all)
{
    struct sink sink = { .image = image, .found = found, .all = all };
    const struct halves *halves = &u->halves;
    enum err e = read_headers(u, file);

    clear(image, found, all);
    if (e == ERR_OK) {
        e = halves_find(halves);
    }
    if (e == ERR_NOT_FOUND) {
        return say_what_it_is(u, file);
    }
    if (e != ERR_OK) {
        return e;
    }
    e = read_half(u, halves->newest, sink);
    if (halves_error_is_local(e) && halves->valid[1 - halves->newest]) {
        e = read_half(u, 1 - halves->newest, sink);
    }
    return e;
}

/* ---- written -------------------------------------------------------------------------------- */

static enum err check_room(struct expert_use *u, const struct file *file, const struct image *image)
{
    if (!file->device->writable) {
        return refuse(u, file, ERR_UNSUPPORTED, "is on a read-only device");
    }
    if (halves_room(file) * 2 < expert_use_bytes(image)) {
        format_text(u->error_message, sizeof u->error_message,
                    "%s is too small: it needs %llu bytes", file->name,
                    (unsigned long long)expert_use_bytes(image));
        return ERR_NO_SPACE;
    }
    return ERR_OK;
}

static enum err write_payload(struct expert_use *u, unsigned half, const struct stream_expert *all,
                              struct expert_use_header *h)
{
    uint64_t begin = half * halves_room(u->halves.file) + SECTOR_BYTES;
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
        e = halves_write_buffer(&u->halves, begin + at * sizeof(struct record),
                                (size_t)halves_to_sectors(bytes));
        if (e != ERR_OK) {
            return e;
        }
    }
    return halves_not_kept(&u->halves, pass(u, half, h, NULL));
}

/* The context of check_half. */
struct check {
    struct expert_use *use;
    const struct image *image;
};

/* Check whether a half is complete and belongs to this model (halves_check_fn). */
static enum err check_half(void *context, unsigned half)
{
    struct check *c = context;
    const struct expert_use_header *h = header_of(c->use, half);
    enum err e = check_fit(c->use, c->use->halves.file, c->image, h);

    return e == ERR_OK ? pass(c->use, half, h, NULL) : e;
}

enum err expert_use_write(struct expert_use *u, const struct file *file, const struct image *image,
                          const struct stream_expert *all)
{
    struct expert_use_header new = { .version = VERSION,
                                     .model_crc = image->header->header_crc32c,
                                     .n = count_experts(image) };
    struct check check = { u, image };
    unsigned kept;
    enum err e = check_room(u, file, image);

    if (e == ERR_OK) {
        e = read_headers(u, file);
    }
    if (e == ERR_OK) {
        e = halves_choose_kept(&u->halves, check_half, &check, &kept);
    }
    if (e != ERR_OK) {
        return e;
    }
    memcpy(new.magic, magic, MAGIC_BYTES);
    new.sequence = halves_next_sequence(&u->halves);
    e = write_payload(u, 1 - kept, all, &new);
    if (e != ERR_OK) {
        return e;
    }
    return halves_write_header(&u->halves, 1 - kept, &new);
}
