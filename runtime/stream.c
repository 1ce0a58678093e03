#include "runtime/stream.h"

#include <assert.h>
#include <string.h>

#include "runtime/crc32c.h"
#include "runtime/format_text.h"
#include "runtime/stream_private.h"

enum { CRC_STEP = 64 * 1024 }; /* bytes checked per poll, so that a poll stays short */

static const struct ingot_extent *layer_extent(const struct stream *s, uint32_t index)
{
    return &s->image->extents[s->layers[index] + 1];
}

static bool is_tile(const struct stream *s, uint32_t index)
{
    return index >= s->n_layers;
}

static uint32_t tile_extent(const struct stream *s)
{
    return image_tensor(s->image, INGOT_OUTPUT, INGOT_NO_LAYER)->extent;
}

enum err stream_name_problem(struct stream *s, unsigned extent, const struct file_read *read,
                             enum err e)
{
    char part[32];
    char where[96] = "";

    image_extent_name(s->image, extent, part, sizeof part);
    if (read != NULL && (e == ERR_IO || e == ERR_TIMEOUT)) {
        format_text(where, sizeof where, ", sector %lu of %s", (unsigned long)read->failed_sector,
                    s->file->device->name);
    }
    format_text(s->problem, sizeof s->problem, "%.100s: %s%s: %s", s->file->name, part, where,
                err_text(e));
    return e;
}

void stream_open(struct stream *s, const struct file *file, struct image *image,
                 const struct plan *plan, struct arena *arena)
{
    uint32_t n = image->header->params.n_layers;

    memset(s, 0, sizeof *s);
    s->file = file;
    s->image = image;
    s->plan = plan;
    for (uint32_t i = 0; i < n; i++) {
        if (plan->residency == PLAN_STREAMED && !plan->pinned[i + 1]) {
            s->layers[s->n_layers++] = (uint16_t)i;
        }
    }
    for (uint32_t i = 0; i < n + 2; i++) {
        const struct ingot_extent *e = &image->extents[i];

        if (plan->residency == PLAN_IN_PLACE) {
            s->extents[i] = file_memory(file, e->offset, e->bytes);
        } else if (plan->pinned[i]) {
            s->extents[i] = arena_take(arena, ARENA_WEIGHTS, (size_t)e->bytes);
        }
    }
    if (s->extents[n + 1] == NULL) { /* an untied head in tiles: only its norm stays */
        s->output_norm = arena_take(arena, ARENA_WEIGHTS, plan_output_norm_bytes(image));
    }
    for (uint32_t i = 0; i < PLAN_SLOTS && plan->slot_bytes != 0; i++) {
        s->slots[i].buffer = arena_take(arena, ARENA_IO, plan->slot_bytes);
    }
    if (plan->row_bytes != 0) {
        s->row = arena_take(arena, ARENA_IO, plan->row_bytes);
    }
}

/* ---- the ring ----------------------------------------------------------------------------- */

static struct stream_slot *slot_of(struct stream *s, uint32_t index)
{
    for (uint32_t i = 0; i < PLAN_SLOTS; i++) {
        struct stream_slot *slot = &s->slots[i];

        if (slot->state != STREAM_EMPTY && slot->unit.pass == s->pass &&
            slot->unit.index == index) {
            return slot;
        }
    }
    return NULL;
}

/* A refusal stays in the read's status and is seen when the unit is wanted. */
static void start_read(const struct stream *s, struct stream_slot *slot)
{
    struct plan_tile tile;
    const struct ingot_extent *x;

    slot->state = STREAM_LOADING;
    slot->crc = 0;
    slot->crc_bytes = 0;
    if (is_tile(s, slot->unit.index)) {
        plan_head_tile(s->plan, s->image, slot->unit.index - s->n_layers, &tile);
        (void)file_read_start(&slot->read, s->file, tile.offset, slot->buffer, tile.bytes);
        return;
    }
    x = layer_extent(s, slot->unit.index);
    (void)file_read_start(&slot->read, s->file, x->offset, slot->buffer, (size_t)x->bytes);
}

/* Of the next pass only the layers are certain: whether it wants the head, and what follows
 * then, is known when it begins. */
static bool next_is_known(const struct stream *s)
{
    uint32_t end = s->n_layers;

    if (s->next.pass == s->pass && s->want_head) {
        end += s->plan->n_tiles;
    }
    return s->next.pass - s->pass <= 1 && s->next.index < end;
}

static void advance_next(struct stream *s)
{
    uint32_t end = s->n_layers;

    if (s->next.pass == s->pass && s->want_head) {
        end += s->plan->n_tiles;
    }
    if (++s->next.index >= end && s->next.pass == s->pass) {
        s->next.pass++;
        s->next.index = 0;
    }
}

static void request_ahead(struct stream *s)
{
    for (uint32_t i = 0; i < PLAN_SLOTS; i++) {
        struct stream_slot *slot = &s->slots[i];

        if (slot->state != STREAM_EMPTY || !next_is_known(s)) {
            continue;
        }
        slot->unit = s->next;
        start_read(s, slot);
        advance_next(s);
    }
}

/* Carry the CRC of an arriving layer along; tiles are checked when they are used, in order. */
static void check_ahead(const struct stream *s, struct stream_slot *slot, uint64_t most)
{
    uint64_t n = slot->read.bytes_done - slot->crc_bytes;

    if (is_tile(s, slot->unit.index) || n == 0) {
        return;
    }
    n = n < most ? n : most;
    slot->crc = crc32c(slot->crc, slot->buffer + slot->crc_bytes, (size_t)n);
    slot->crc_bytes += n;
}

void stream_poll(struct stream *s)
{
    for (uint32_t i = 0; i < PLAN_SLOTS; i++) {
        struct stream_slot *slot = &s->slots[i];

        if (slot->state == STREAM_LOADING) {
            (void)file_read_poll(&slot->read); /* its status stays in the read */
            check_ahead(s, slot, CRC_STEP);
        }
    }
}

void stream_reset(struct stream *s)
{
    for (uint32_t i = 0; i < PLAN_SLOTS; i++) {
        struct stream_slot *slot = &s->slots[i];

        while (slot->state == STREAM_LOADING && file_read_poll(&slot->read) == ERR_BUSY) {
            /* the device writes the buffer until it ends */
        }
        slot->state = STREAM_EMPTY;
    }
    s->pass++;
    s->next.pass = s->pass + 1;
    s->next.index = 0;
    s->started = false;
}

void stream_begin(struct stream *s, bool want_head)
{
    s->pass++;
    s->want_head = want_head && s->plan->tiled_head;
    s->tile_crc = s->tile_crc_before;
    s->tile_crc_end = s->plan->tile_base;
    if (s->n_layers == 0) {
        return;
    }
    if (s->next.pass < s->pass) {
        s->next.pass = s->pass;
        s->next.index = 0;
    }
    /* The pass before stopped asking at its last layer: go on with the tiles or the next pass. */
    if (s->next.index >= s->n_layers + (s->want_head ? s->plan->n_tiles : 0)) {
        s->next.pass++;
        s->next.index = 0;
    }
    request_ahead(s);
}

static uint64_t ticks_now(const struct stream *s)
{
    return s->file->timeout.ticks != NULL ? s->file->timeout.ticks() : 0;
}

/* Wait for the slot's transfer. Its error, if any, is the read's. */
static enum err wait_arrival(struct stream *s, struct stream_slot *slot)
{
    stream_poll(s);
    if (slot->read.status == ERR_BUSY) {
        uint64_t start = ticks_now(s);

        while (slot->read.status == ERR_BUSY) {
            stream_poll(s);
        }
        s->figures.stalls++;
        s->figures.first_stalls += s->started ? 0 : 1;
        s->figures.stall_ticks += ticks_now(s) - start;
    }
    s->started = true;
    s->figures.retries += slot->read.n_retries;
    return slot->read.status;
}

static enum err fail(struct stream *s, unsigned extent, struct stream_slot *slot, enum err e)
{
    (void)stream_name_problem(s, extent, &slot->read, e);
    stream_reset(s);
    return e;
}

/* A flipped bit on the way is cured by reading again; one on the card is not. */
static enum err check_layer(struct stream *s, struct stream_slot *slot, unsigned extent)
{
    for (int tries = 0; ; tries++) {
        check_ahead(s, slot, UINT64_MAX);
        if (image_check_extent(s->image, extent, slot->crc) == ERR_OK) {
            return ERR_OK;
        }
        if (tries == 1) {
            return ERR_BAD_CHECKSUM;
        }
        s->figures.reread++;
        start_read(s, slot);
        while (file_read_poll(&slot->read) == ERR_BUSY) {
        }
        s->figures.retries += slot->read.n_retries;
        if (slot->read.status != ERR_OK) {
            return slot->read.status;
        }
    }
}

enum err stream_layer(struct stream *s, uint32_t layer, const uint8_t **extent)
{
    struct stream_slot *slot;
    uint32_t index = 0;
    enum err e;

    if (s->extents[layer + 1] != NULL) {
        *extent = s->extents[layer + 1];
        return ERR_OK;
    }
    while (s->layers[index] != layer) {
        index++;
    }
    slot = slot_of(s, index);
    assert(slot != NULL);
    e = wait_arrival(s, slot);
    e = e == ERR_OK ? check_layer(s, slot, layer + 1) : e;
    if (e != ERR_OK) {
        return fail(s, layer + 1, slot, e);
    }
    slot->state = STREAM_IN_USE;
    *extent = slot->buffer;
    return ERR_OK;
}

static void give_back(struct stream *s, uint32_t index)
{
    struct stream_slot *slot = slot_of(s, index);

    assert(slot != NULL && slot->state == STREAM_IN_USE);
    s->figures.bytes_streamed += slot->read.bytes;
    slot->state = STREAM_EMPTY;
    request_ahead(s);
}

void stream_layer_done(struct stream *s, uint32_t layer)
{
    uint32_t index = 0;

    if (s->extents[layer + 1] != NULL) {
        return;
    }
    while (s->layers[index] != layer) {
        index++;
    }
    give_back(s, index);
}

enum err stream_tile(struct stream *s, uint32_t i, struct plan_tile *tile, const uint8_t **rows)
{
    struct stream_slot *slot = slot_of(s, s->n_layers + i);
    unsigned extent = tile_extent(s);
    uint64_t end;
    enum err e;

    assert(slot != NULL);
    plan_head_tile(s->plan, s->image, i, tile);
    e = wait_arrival(s, slot);
    if (e != ERR_OK) {
        return fail(s, extent, slot, e);
    }
    end = i + 1 == s->plan->n_tiles ? s->plan->tile_end : tile->offset + tile->bytes;
    s->tile_crc = crc32c(s->tile_crc, slot->buffer + (s->tile_crc_end - tile->offset),
                         (size_t)(end - s->tile_crc_end));
    s->tile_crc_end = end;
    if (end == s->plan->tile_end &&
        image_check_extent(s->image, extent, s->tile_crc) != ERR_OK) {
        return fail(s, extent, slot, ERR_BAD_CHECKSUM);
    }
    slot->state = STREAM_IN_USE;
    *rows = slot->buffer + tile->skip;
    return ERR_OK;
}

void stream_tile_done(struct stream *s, uint32_t i)
{
    give_back(s, s->n_layers + i);
}

enum err stream_embedding(struct stream *s, uint32_t token, const uint8_t **group, uint32_t *row)
{
    const struct ingot_tensor *t = image_tensor(s->image, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER);
    uint64_t first = t->offset + token / t->interleave *
                                     (image_type_row_bytes(t->type, t->cols_padded) *
                                      (uint64_t)t->interleave);
    struct file_read read;
    uint64_t offset;
    size_t bytes;
    enum err e;

    *row = token % t->interleave;
    if (s->extents[0] != NULL) {
        *group = s->extents[0] + first;
        return ERR_OK;
    }
    plan_embedding_range(s->image, token, &offset, &bytes);
    e = file_read_now(&read, s->file, offset, s->row, bytes);
    s->figures.retries += read.n_retries;
    if (e != ERR_OK) {
        (void)stream_name_problem(s, 0, &read, e);
        stream_reset(s);
        return e;
    }
    s->figures.bytes_streamed += bytes;
    *group = s->row + (s->image->extents[0].offset + first - offset);
    return ERR_OK;
}
