/* The stream before its first pass: what stays is read and checked, and so is, once, what will
 * later pass in pieces. */
#include <string.h>

#include "runtime/compute/workers_crc32c.h"
#include "runtime/stream/stream_private.h"
#include "runtime/text/format_text.h"

enum { CHECK_STEP = 256 * 1024 }; /* bytes between two lines of progress, in place */

void stream_open(struct stream *s, const struct file *file, struct image *image,
                 const struct plan *plan, struct workers *workers, struct arena *arena)
{
    memset(s, 0, sizeof *s);
    s->file = file;
    s->image = image;
    s->plan = plan;
    s->workers = workers;
    for (uint32_t i = 0; i < image->header->params.n_layers; i++) {
        if (plan->residency == PLAN_STREAMED && !plan->pinned[image_layer_segment(image, i)]) {
            s->layers[s->n_layers++] = (uint16_t)i;
        }
    }
    for (uint32_t i = 0; i < image_segment_count(image); i++) {
        const struct ingot_segment *e = &image->segments[i];

        if (plan->residency == PLAN_IN_PLACE) {
            s->segments[i] = file_memory(file, e->offset, e->bytes);
        } else if (plan->pinned[i]) {
            s->segments[i] = arena_take(arena, ARENA_WEIGHTS, (size_t)e->bytes);
        }
    }
    if (s->segments[image_head_segment(image)] ==
        NULL) { /* an untied head in tiles: only its norm stays */
        s->output_norm = arena_take(arena, ARENA_WEIGHTS, plan_output_norm_bytes(image));
    }
    for (uint32_t i = 0; i < plan->n_slots; i++) {
        s->slots[i].buffer = arena_take(arena, ARENA_IO, plan->slot_bytes);
    }
    if (plan->row_bytes != 0) {
        s->rows = arena_take(arena, ARENA_IO, plan->n_rows * plan->row_bytes);
        s->row_sums = arena_take(arena, ARENA_IO, plan->row_sums_bytes);
    }
}

struct loading {
    stream_progress_fn *progress; /* may be NULL */
    void *context;
    uint64_t done;
    uint64_t total;
};

static bool goes_on(const struct stream *s, const struct loading *l, uint64_t arrived)
{
    return l->progress == NULL || l->progress(l->context, s->label, l->done + arrived, l->total);
}

static void name_progress(struct stream *s, const char *doing, unsigned segment)
{
    char part[32];

    image_segment_name(s->image, segment, part, sizeof part);
    format_text(s->label, sizeof s->label, "%s %s", doing, part);
}

/* Read [offset, offset + bytes) to buffer, carrying the CRC along with the transfer. */
static enum err read_checked(struct stream *s, struct loading *l, unsigned segment, uint64_t offset,
                             uint8_t *buffer, size_t bytes, uint32_t *crc)
{
    struct file_read *read = &s->slots[0].read;
    uint64_t checked = 0;
    bool stopped = false;
    enum err e;

    (void)file_read_start(read, s->file, offset, buffer, bytes); /* a refusal shows in the poll */
    do {
        platform_yield(&s->workers->platform->cores);
        e = file_read_poll(read);
        *crc = crc32c(*crc, buffer + checked, (size_t)(read->bytes_done - checked));
        checked = read->bytes_done;
        if (!goes_on(s, l, checked)) {
            stopped = true;
            file_read_stop(read);
        }
    } while (e == ERR_BUSY);
    s->stats.retries += read->n_retries;
    l->done += bytes;
    if (stopped) {
        return stream_name_problem(s, segment, NULL, ERR_ABORTED);
    }
    return e == ERR_OK ? ERR_OK : stream_name_problem(s, segment, read, e);
}

static enum err check(struct stream *s, unsigned segment, uint32_t crc)
{
    enum err e = image_check_segment(s->image, segment, crc);

    return e == ERR_OK ? ERR_OK : stream_name_problem(s, segment, NULL, e);
}

/* Once; and once more where the CRC does not match, as a bit may flip on the way. */
static enum err load_pinned(struct stream *s, struct loading *l, unsigned segment)
{
    const struct ingot_segment *x = &s->image->segments[segment];
    /* The arena's, written here alone. */
    uint8_t *memory = (uint8_t *)(uintptr_t)s->segments[segment];

    for (int tries = 0;; tries++) {
        uint32_t crc = 0;
        enum err e = read_checked(s, l, segment, x->offset, memory, (size_t)x->bytes, &crc);

        if (e != ERR_OK) {
            return e;
        }
        if (crc == x->crc32c || tries == 1) {
            s->stats.bytes_loaded += x->bytes;
            return check(s, segment, crc);
        }
        s->stats.reread++;
        l->done -= x->bytes;
    }
}

static enum err check_in_place(struct stream *s, struct loading *l, unsigned segment)
{
    const struct ingot_segment *x = &s->image->segments[segment];
    uint32_t crc = 0;

    for (uint64_t at = 0; at < x->bytes; at += CHECK_STEP) {
        size_t n = (size_t)(x->bytes - at < CHECK_STEP ? x->bytes - at : CHECK_STEP);

        crc = workers_crc32c(s->workers, crc, s->segments[segment] + at, n);
        if (!goes_on(s, l, at + n)) {
            return stream_name_problem(s, segment, NULL, ERR_ABORTED);
        }
    }
    l->done += x->bytes;
    return check(s, segment, crc);
}

/* Carry the checksums of the embedding's groups of rows over bytes [at, at + n) of its segment. */
static void sum_rows(struct stream *s, uint64_t at, const uint8_t *data, size_t n)
{
    uint64_t first = image_tensor(s->image, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER)->offset;
    size_t group = plan_row_group_bytes(s->image);
    uint64_t end = first + (uint64_t)plan_row_groups(s->image) * group;

    while (n != 0) {
        uint64_t stop = at < first  ? first
                        : at >= end ? UINT64_MAX
                                    : at + (group - (at - first) % group);
        size_t piece = stop - at < n ? (size_t)(stop - at) : n;

        if (at >= first && at < end) {
            uint32_t *sum = &s->row_sums[(at - first) / group];

            *sum = crc32c((at - first) % group == 0 ? 0 : *sum, data, piece);
        }
        at += piece;
        data += piece;
        n -= piece;
    }
}

/* The CRC of an segment that does not stay, piece by piece through a slot (or the row buffer
 * where there are no slots). */
static enum err read_through_once(struct stream *s, struct loading *l, unsigned segment,
                                  uint32_t *crc)
{
    const struct ingot_segment *x = &s->image->segments[segment];
    bool slots = s->plan->n_slots != 0;
    uint8_t *buffer = slots ? s->slots[0].buffer : s->rows;
    size_t step = (slots ? s->plan->slot_bytes : s->plan->row_bytes) / SECTOR_BYTES * SECTOR_BYTES;
    enum err e = ERR_OK;

    *crc = 0;
    for (uint64_t at = 0; at < x->bytes && e == ERR_OK; at += step) {
        size_t n = (size_t)(x->bytes - at < step ? x->bytes - at : step);

        e = read_checked(s, l, segment, x->offset + at, buffer, n, crc);
        if (segment == image_embedding_segment(s->image) && s->row_sums != NULL) {
            sum_rows(s, at, buffer, n);
        }
    }
    return e;
}

static enum err read_through(struct stream *s, struct loading *l, unsigned segment)
{
    const struct ingot_segment *x = &s->image->segments[segment];
    uint32_t crc;
    enum err e = read_through_once(s, l, segment, &crc);

    if (e == ERR_OK && crc != x->crc32c) {
        s->stats.reread++;
        l->done -= x->bytes;
        e = read_through_once(s, l, segment, &crc);
    }
    return e == ERR_OK ? check(s, segment, crc) : e;
}

/* A head in tiles: remember the CRC of what precedes the matrix in its segment, which no tile
 * brings; untied that is the final norm, which stays. Read after the whole was checked. */
static enum err keep_before_matrix(struct stream *s)
{
    const struct ingot_tensor *norm = image_tensor(s->image, INGOT_OUTPUT_NORM, INGOT_NO_LAYER);
    const struct ingot_tensor *head = image_tensor(s->image, INGOT_OUTPUT, INGOT_NO_LAYER);
    uint64_t before = (head->offset + SECTOR_BYTES - 1) / SECTOR_BYTES * SECTOR_BYTES;
    struct loading unseen = { 0 };
    uint32_t crc = 0;
    enum err e;

    if (before > s->plan->slot_bytes) { /* a gap that no packer leaves */
        return stream_name_problem(s, head->segment, NULL, ERR_BAD_HEADER);
    }
    e = read_checked(s, &unseen, head->segment, s->image->segments[head->segment].offset,
                     s->slots[0].buffer, (size_t)before, &crc);
    if (e != ERR_OK) {
        return e;
    }
    s->tile_crc_before = crc32c(0, s->slots[0].buffer, (size_t)head->offset);
    if (s->output_norm != NULL) { /* and its bias, which lies behind it */
        memcpy((uint8_t *)(uintptr_t)s->output_norm, s->slots[0].buffer + norm->offset,
               (size_t)(head->offset - norm->offset));
    }
    return ERR_OK;
}

/* Layers that stream are checked whenever they arrive; embedding and head, of which some or all
 * passes read a part, now. */
static bool is_loaded(const struct stream *s, uint32_t segment)
{
    return s->segments[segment] != NULL || segment == image_embedding_segment(s->image) ||
           segment == image_head_segment(s->image);
}

enum err stream_load(struct stream *s, stream_progress_fn *progress, void *context)
{
    struct loading l = { .progress = progress, .context = context };
    uint32_t n = image_segment_count(s->image);
    enum err e = ERR_OK;

    for (uint32_t i = 0; i < n; i++) {
        l.total += is_loaded(s, i) ? s->image->segments[i].bytes : 0;
    }
    for (uint32_t i = 0; i < n && e == ERR_OK; i++) {
        if (!is_loaded(s, i)) {
            continue;
        }
        name_progress(s, s->plan->residency == PLAN_IN_PLACE ? "checking" : "loading", i);
        if (s->plan->residency == PLAN_IN_PLACE) {
            e = check_in_place(s, &l, i);
        } else if (s->segments[i] != NULL) {
            e = load_pinned(s, &l, i);
        } else {
            e = read_through(s, &l, i);
        }
    }
    return e == ERR_OK && s->plan->tiled_head ? keep_before_matrix(s) : e;
}
