/* Loads the stream before its first pass. Resident segments are read and checked. Segments of which
 * passes later read only parts are read once, for their checksum. */
#include <string.h>

#include "board/min_max.h"
#include "runtime/compute/workers_crc32c.h"
#include "runtime/stream/stream_private.h"
#include "runtime/text/format_text.h"

enum { CHECK_STEP = 256 * 1024 }; /* bytes between two reports of progress for weights in place */

void stream_open(struct stream *s, const struct file *file, struct image *image,
                 const struct plan *plan, struct workers *workers, struct arena *arena)
{
    memset(s, 0, sizeof *s);
    s->file = file;
    s->image = image;
    s->plan = plan;
    s->workers = workers;
    /* List the layers that stream, in the order of a pass. */
    for (uint32_t i = 0; i < image->header->params.n_layers; i++) {
        if (plan->residency == PLAN_STREAMED && !plan->pinned[image_layer_segment(image, i)]) {
            s->ring.layers[s->ring.n_layers++] = (uint16_t)i;
        }
    }
    /* Set the address of segments in place, and of memory for segments that stay. */
    for (uint32_t i = 0; i < image_segment_count(image); i++) {
        const struct ingot_segment *e = &image->segments[i];

        if (plan->residency == PLAN_IN_PLACE) {
            s->segments[i] = file_memory(file, e->offset, e->bytes);
        } else if (plan->pinned[i]) {
            s->segments[i] = arena_take(arena, ARENA_WEIGHTS, (size_t)stream_segment_bytes(s, i));
        }
    }
    if (plan->head.stays != 0) {
        s->head = arena_take(arena, ARENA_WEIGHTS, plan_head_bytes(plan));
    }
    /* Then assign memory for experts, slots and rows. */
    stream_experts_open(s, arena);
    for (uint32_t i = 0; i < plan->memory.n_slots; i++) {
        s->ring.slots[i].buffer = arena_take(arena, ARENA_IO, plan->memory.slot);
    }
    for (uint32_t i = 0; i < plan->table.n; i++) {
        s->table.slots[i].buffer = arena_take(arena, ARENA_IO, plan->table.bytes);
    }
    if (plan->rows.bytes != 0) {
        s->rows.memory = arena_take(arena, ARENA_IO, plan->rows.n * plan->rows.bytes);
        s->rows.sums = arena_take(arena, ARENA_IO, plan->rows.sums);
    }
}

void stream_sign(struct stream *s, const struct signature *signature, void *spare,
                 size_t spare_bytes)
{
    s->signature = signature;
    s->spare = spare;
    s->spare_bytes = spare_bytes;
}

struct loading {
    stream_progress_fn *progress; /* may be NULL */
    void *context;
    uint64_t done;
    uint64_t total;
    struct tree_digest digest; /* digest of the segment so far, if files are signed */
    bool digests;              /* the current bytes go into the digest */
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

/* ---- digests, if files are signed ------------------------------------------------------------ */

static void begin_digest(const struct stream *s, struct loading *l)
{
    if (s->signature != NULL) {
        s->signature->signing->begin_digest(&l->digest);
        l->digests = true;
    }
}

static void add_digest(const struct stream *s, struct loading *l, const void *data, size_t bytes)
{
    if (s->signature != NULL) {
        s->signature->signing->add_digest(&l->digest, s->workers, data, bytes);
    }
}

/* While the rest arrives, hash the bytes that have arrived: at least a leaf at a time, or two
 * leaves if several cores can share them. */
static void digest_arrived(const struct stream *s, struct loading *l, const uint8_t *buffer,
                           uint64_t *digested, uint64_t arrived, bool more)
{
    size_t n = (size_t)(arrived - *digested);
    size_t least = s->workers->n_cores > 1 ? 2 * (size_t)SIGNATURE_LEAF : SIGNATURE_LEAF;

    if (!l->digests || (more && n < least)) {
        return;
    }
    add_digest(s, l, buffer + *digested, n);
    *digested += n;
}

static enum err check_digest(struct stream *s, struct loading *l, unsigned segment)
{
    uint8_t digest[SIGNATURE_DIGEST_BYTES];

    if (s->signature == NULL) {
        return ERR_OK;
    }
    s->signature->signing->end_digest(&l->digest, digest);
    if (memcmp(digest, s->signature->digests[SIGNATURE_FRONT_PARTS + segment], sizeof digest) !=
        0) {
        return stream_name_error_message(s, segment, NULL, ERR_NOT_SIGNED);
    }
    return ERR_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Read [offset, offset + bytes) to buffer. Meanwhile continue the CRC, and the digest if it was
 * begun. */
static enum err read_checked(struct stream *s, struct loading *l, unsigned segment, uint64_t offset,
                             uint8_t *buffer, size_t bytes, uint32_t *crc)
{
    struct file_read *read = &s->ring.slots[0].read;
    uint64_t checked = 0, digested = 0;
    bool stopped = false;
    enum err e;

    (void)file_read_start(read, s->file, offset, buffer, bytes); /* the poll reports an error */
    do {
        platform_yield(&s->workers->platform->cores);
        e = file_read_poll(read);
        /* Continue the checksum with each poll, so that it is ready soon after the last byte. */
        *crc = crc32c(*crc, buffer + checked, (size_t)(read->bytes_done - checked));
        checked = read->bytes_done;
        digest_arrived(s, l, buffer, &digested, checked, e == ERR_BUSY);
        /* After a stop, wait for the requests that the device already has. */
        if (!goes_on(s, l, checked)) {
            stopped = true;
            file_read_stop(read);
        }
    } while (e == ERR_BUSY);
    s->stats.retries += read->n_retries;
    l->done += bytes;
    if (stopped) {
        return stream_name_error_message(s, segment, NULL, ERR_ABORTED);
    }
    if (e != ERR_OK) {
        return stream_name_error_message(s, segment, read, e);
    }
    return ERR_OK;
}

/* ---- segments -------------------------------------------------------------------------------- */

static enum err check(struct stream *s, unsigned segment, uint32_t crc)
{
    enum err e = image_check_segment(s->image, segment, crc);

    if (e != ERR_OK) {
        return stream_name_error_message(s, segment, NULL, e);
    }
    return ERR_OK;
}

/* Read a segment, and read it again if the CRC does not match, because a bit may flip in the
 * transfer. */
static enum err load_pinned(struct stream *s, struct loading *l, unsigned segment)
{
    const struct ingot_segment *x = &s->image->segments[segment];
    /* The destination is the arena's memory, which only this code writes. */
    uint8_t *memory = (uint8_t *)(uintptr_t)s->segments[segment];
    uint64_t bytes = stream_segment_bytes(s, segment);

    for (int tries = 0;; tries++) {
        uint32_t crc = 0;
        enum err e;

        begin_digest(s, l);
        e = read_checked(s, l, segment, x->offset, memory, (size_t)bytes, &crc);
        if (e != ERR_OK) {
            return e;
        }
        /* Experts that do not stay have their own checksums, which are combined here. */
        crc = stream_layer_crc(s, segment, crc);
        if (crc == x->crc32c || tries == 1) {
            s->stats.bytes_loaded += bytes;
            return check(s, segment, crc);
        }
        /* Read once more from the beginning, and count the progress again. */
        s->stats.reread++;
        l->done -= bytes;
    }
}

static enum err check_in_place(struct stream *s, struct loading *l, unsigned segment)
{
    const struct ingot_segment *x = &s->image->segments[segment];
    uint32_t crc = 0;

    for (uint64_t at = 0; at < x->bytes; at += CHECK_STEP) {
        size_t n = (size_t)min_u64(x->bytes - at, CHECK_STEP);

        crc = workers_crc32c(s->workers, crc, s->segments[segment] + at, n);
        add_digest(s, l, s->segments[segment] + at, n);
        if (!goes_on(s, l, at + n)) {
            return stream_name_error_message(s, segment, NULL, ERR_ABORTED);
        }
    }
    l->done += x->bytes;
    return check(s, segment, crc);
}

/* The places of the groups of rows in the embedding's segment. */
struct row_groups {
    uint64_t first, end; /* byte offsets */
    size_t bytes;        /* bytes of a group */
};

/* Return the end of the group with the byte at `at`. For bytes before the first group, return the
 * start of the first group; for bytes after the last group, UINT64_MAX. */
static uint64_t group_end(const struct row_groups *g, uint64_t at)
{
    if (at < g->first) {
        return g->first;
    }
    if (at >= g->end) {
        return UINT64_MAX;
    }
    return at + (g->bytes - (at - g->first) % g->bytes);
}

static void sum_part(struct stream *s, const struct row_groups *g, uint64_t at, const uint8_t *data,
                     size_t n)
{
    uint32_t *sum;

    if (at < g->first || at >= g->end) {
        return;
    }
    sum = &s->rows.sums[(at - g->first) / g->bytes];
    if ((at - g->first) % g->bytes == 0) {
        *sum = 0;
    }
    *sum = crc32c(*sum, data, n);
}

/* Continue the checksums of the embedding's groups of rows with bytes [at, at + n) of its
 * segment. */
static void sum_rows(struct stream *s, uint64_t at, const uint8_t *data, size_t n)
{
    uint64_t first = image_tensor(s->image, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER)->offset;
    size_t bytes = plan_row_group_bytes(s->image);
    struct row_groups g = { first, first + (uint64_t)plan_row_groups(s->image) * bytes, bytes };

    /* Sum piece by piece, so that each piece lies within one group. */
    while (n != 0) {
        size_t part = (size_t)min_u64(group_end(&g, at) - at, n);

        sum_part(s, &g, at, data, part);
        at += part;
        data += part;
        n -= part;
    }
}

/* Return memory for a part of a segment that does not stay: a slot, or the rows' memory if there
 * are no slots, or the spare memory if that is larger. */
static uint8_t *part_buffer(const struct stream *s, size_t *bytes)
{
    uint8_t *buffer = s->rows.memory;

    *bytes = s->plan->rows.bytes;
    if (s->plan->memory.n_slots != 0) {
        buffer = s->ring.slots[0].buffer;
        *bytes = s->plan->memory.slot;
    }
    if (s->spare_bytes > *bytes) {
        buffer = s->spare;
        *bytes = s->spare_bytes;
    }
    /* Read whole sectors, so that no read needs a bounce buffer. */
    *bytes = *bytes / SECTOR_BYTES * SECTOR_BYTES;
    return buffer;
}

/* Return memory for the part of a tiled head that stays, and set *bytes to its whole pages. Return
 * NULL if nothing of the segment stays. */
static uint8_t *part_that_stays(const struct stream *s, unsigned segment, size_t *bytes)
{
    bool head = s->head != NULL && segment == stream_tiles_segment(s);

    *bytes = plan_head_bytes(s->plan);
    return head ? s->head : NULL;
}

/* Compute the CRC of a segment that does not stay completely, part by part. */
static enum err read_through_once(struct stream *s, struct loading *l, unsigned segment,
                                  uint32_t *crc)
{
    const struct ingot_segment *x = &s->image->segments[segment];
    size_t n;
    uint8_t *buffer = part_that_stays(s, segment, &n);
    enum err e = ERR_OK;

    *crc = 0;
    begin_digest(s, l);
    for (uint64_t at = 0; at < x->bytes && e == ERR_OK; at += n) {
        /* Only the first part of a segment can stay. */
        if (at != 0 || buffer == NULL) {
            buffer = part_buffer(s, &n);
        }
        n = (size_t)min_u64(x->bytes - at, n);
        e = read_checked(s, l, segment, x->offset + at, buffer, n, crc);
        if (segment == image_embedding_segment(s->image) && s->rows.sums != NULL) {
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
        /* A bit may have flipped in the transfer, so read once more. */
        s->stats.reread++;
        l->done -= x->bytes;
        e = read_through_once(s, l, segment, &crc);
    }
    if (e != ERR_OK) {
        return e;
    }
    return check(s, segment, crc);
}

/* Finish the digest of a segment in memory by reading through a layer's experts, which are not in
 * memory. */
static enum err digest_rest(struct stream *s, struct loading *l, unsigned segment)
{
    const struct ingot_segment *x = &s->image->segments[segment];
    uint64_t at = stream_segment_bytes(s, segment);
    size_t step;
    uint8_t *buffer = part_buffer(s, &step);
    enum err e = ERR_OK;

    for (; at < x->bytes && e == ERR_OK; at += step) {
        size_t n = (size_t)min_u64(x->bytes - at, step);
        uint32_t crc = 0;

        e = read_checked(s, l, segment, x->offset + at, buffer, n, &crc);
    }
    return e;
}

/* Return true if loading reads a segment. Layers that stream are checked whenever they arrive.
 * Embedding and head are checked now, because passes read only parts of these. If files are signed,
 * everything is checked now. */
static bool is_loaded(const struct stream *s, uint32_t segment)
{
    return s->segments[segment] != NULL || segment == image_embedding_segment(s->image) ||
           segment == image_head_segment(s->image) || s->signature != NULL;
}

/* Return how many bytes of a segment loading reads. */
static uint64_t loaded_bytes(const struct stream *s, uint32_t segment)
{
    if (!is_loaded(s, segment)) {
        return 0;
    }
    return s->signature != NULL ? s->image->segments[segment].bytes
                                : stream_segment_bytes(s, segment);
}

static enum err load_once(struct stream *s, struct loading *l, uint32_t segment)
{
    bool in_place = s->plan->residency == PLAN_IN_PLACE;
    enum err e;

    name_progress(s, in_place ? "checking" : "loading", segment);
    if (in_place) {
        begin_digest(s, l);
        return check_in_place(s, l, segment);
    }
    if (s->segments[segment] == NULL) {
        return read_through(s, l, segment);
    }
    e = load_pinned(s, l, segment);
    if (e == ERR_OK && s->signature != NULL) {
        e = digest_rest(s, l, segment);
    }
    return e;
}

/* Return true if a wrong digest may come from a bit that flipped in the transfer. With a right CRC
 * no bit has flipped, but experts that do not stay have no CRC check here. */
static bool may_have_flipped(const struct stream *s, uint32_t segment)
{
    return s->segments[segment] != NULL &&
           stream_segment_bytes(s, segment) < s->image->segments[segment].bytes;
}

static enum err load_segment(struct stream *s, struct loading *l, uint32_t segment)
{
    for (int tries = 0;; tries++) {
        uint64_t done = l->done;
        enum err e = load_once(s, l, segment);

        if (e == ERR_OK) {
            e = check_digest(s, l, segment);
        }
        /* If the digest is wrong twice, or the CRC was right, the file is wrong. */
        if (e != ERR_NOT_SIGNED || tries == 1 || !may_have_flipped(s, segment)) {
            return e;
        }
        l->done = done;
    }
}

enum err stream_load(struct stream *s, stream_progress_fn *progress, void *context)
{
    struct loading l = { .progress = progress, .context = context };
    uint32_t n = image_segment_count(s->image);

    /* Compute the total first, because progress is a share of it. */
    for (uint32_t i = 0; i < n; i++) {
        l.total += loaded_bytes(s, i);
    }
    for (uint32_t i = 0; i < n; i++) {
        enum err e = ERR_OK;

        if (is_loaded(s, i)) {
            e = load_segment(s, &l, i);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    if (s->head != NULL) { /* the tiles' checksum continues from this */
        s->tiles.crc_before = workers_crc32c(s->workers, 0, s->head, (size_t)s->plan->head.stays);
    }
    return ERR_OK;
}
