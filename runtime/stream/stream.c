#include "runtime/stream/stream.h"

#include <assert.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/compute/workers_crc32c.h"
#include "runtime/stream/kv_pages.h"
#include "runtime/stream/stream_private.h"

enum { CRC_STEP = 128 * 1024 }; /* bytes that core 0 checks per poll, so that a poll stays short */
enum { WORKERS_STEP = 1024 * 1024 };             /* and the workers between two polls */
enum { QUIET_STEPS = 256, QUIET_WAITS = 20000 }; /* without a poll, where nothing can have come */

static const struct ingot_segment *layer_segment(const struct stream *s, uint32_t index)
{
    return &s->image->segments[image_layer_segment(s->image, s->layers[index])];
}

static bool is_tile(const struct stream *s, uint32_t index)
{
    return index >= s->n_layers;
}

static uint32_t tile_segment(const struct stream *s)
{
    return image_tensor(s->image, INGOT_OUTPUT, INGOT_NO_LAYER)->segment;
}

/* ---- the ring ----------------------------------------------------------------------------- */

static struct stream_slot *slot_of(struct stream *s, uint32_t index)
{
    for (uint32_t i = 0; i < s->plan->n_slots; i++) {
        struct stream_slot *slot = &s->slots[i];

        if (slot->state != STREAM_EMPTY && slot->segment.pass == s->pass &&
            slot->segment.index == index) {
            return slot;
        }
    }
    return NULL;
}

/* A refusal stays in the read's status and is seen when the segment is wanted. */
static void start_read(const struct stream *s, struct stream_slot *slot)
{
    struct plan_tile tile;
    const struct ingot_segment *x;

    slot->crc = 0;
    slot->crc_bytes = 0;
    if (is_tile(s, slot->segment.index)) {
        plan_head_tile(s->plan, s->image, slot->segment.index - s->n_layers, &tile);
        (void)file_read_start(&slot->read, s->file, tile.offset, slot->buffer, tile.bytes);
        return;
    }
    x = layer_segment(s, slot->segment.index);
    (void)file_read_start(&slot->read, s->file, x->offset, slot->buffer, (size_t)x->bytes);
}

static bool is_arriving(const struct stream_slot *slot)
{
    return (slot->state == STREAM_LOADING || slot->state == STREAM_IN_USE) &&
           slot->read.status == ERR_BUSY;
}

/* The queued slot whose turn is next, or NULL: none, or the segment before has more to ask for. Two
 * at once would share the card, and the one that is wanted first would come late. */
static struct stream_slot *next_queued(struct stream *s)
{
    struct stream_slot *first = NULL;

    for (uint32_t i = 0; i < s->plan->n_slots; i++) {
        struct stream_slot *slot = &s->slots[i];

        if (is_arriving(slot) && slot->read.bytes_issued < slot->read.bytes) {
            return NULL;
        }
        if (slot->state == STREAM_QUEUED &&
            (first == NULL || slot->segment.pass - s->pass < first->segment.pass - s->pass ||
             (slot->segment.pass == first->segment.pass &&
              slot->segment.index < first->segment.index))) {
            first = slot;
        }
    }
    return first;
}

static void start_queued(struct stream *s)
{
    struct stream_slot *slot;

    while ((slot = next_queued(s)) != NULL) {
        slot->state = STREAM_LOADING;
        slot->begun = trace_begin(s->workers->trace);
        start_read(s, slot);
    }
}

static void trace_arrival(const struct stream *s, struct stream_slot *slot)
{
    bool tile = is_tile(s, slot->segment.index);

    if (slot->begun != 0 && slot->read.status != ERR_BUSY) {
        trace_end(s->workers->trace, tile ? TRACE_TILE : TRACE_LAYER,
                  tile ? slot->segment.index - s->n_layers : s->layers[slot->segment.index],
                  TRACE_CARD, slot->begun);
        slot->begun = 0;
    }
}

/* Of the next pass only the layers are certain: whether it wants the head, and what follows
 * then, is known when it begins. */
static uint32_t known_units(const struct stream *s)
{
    return s->n_layers + (s->next.pass == s->pass && s->want_head ? s->plan->n_tiles : 0);
}

static void advance_next(struct stream *s)
{
    if (++s->next.index >= known_units(s) && s->next.pass == s->pass) {
        s->next.pass++;
        s->next.index = 0;
    }
}

static void request_ahead(struct stream *s)
{
    for (uint32_t i = 0; i < s->plan->n_slots; i++) {
        struct stream_slot *slot = &s->slots[i];

        if (slot->state != STREAM_EMPTY || s->next.pass - s->pass > 1 ||
            s->next.index >= known_units(s)) {
            continue;
        }
        slot->segment = s->next;
        slot->state = STREAM_QUEUED;
        slot->checked = false;
        slot->stalled = false;
        advance_next(s);
    }
    start_queued(s);
}

/* Carry the CRC of an arriving layer along; tiles are checked when they are used, in order. */
static void check_ahead(const struct stream *s, struct stream_slot *slot)
{
    uint64_t n = slot->read.bytes_done - slot->crc_bytes;

    if (is_tile(s, slot->segment.index)) {
        return;
    }
    n = n < CRC_STEP ? n : CRC_STEP;
    slot->crc = crc32c(slot->crc, slot->buffer + slot->crc_bytes, (size_t)n);
    slot->crc_bytes += n;
}

/* The card's share of the time: from poll to poll while a segment arrives, or pages of the cache. */
static void poll_pages_and_count(struct stream *s)
{
    uint64_t now = stream_ticks(s), bytes = 0;
    bool busy = s->pages != NULL && kv_pages_poll(s->pages, &bytes);

    for (uint32_t i = 0; i < s->plan->n_slots; i++) {
        const struct stream_slot *slot = &s->slots[i];

        busy = busy || is_arriving(slot);
        bytes += slot->state == STREAM_LOADING || slot == s->early ? slot->read.bytes_done : 0;
    }
    if (s->polled_at != 0) {
        s->stats.busy_ticks += now - s->polled_at;
        s->stats.arrived += bytes > s->arriving_bytes ? bytes - s->arriving_bytes : 0;
    }
    s->polled_at = busy ? now : 0;
    s->arriving_bytes = bytes;
}

/* While the workers computes, what core 0 spends here is what all wait for: then layers are checked when
 * they are done, by all. waits: nobody computes. */
static void poll_all(struct stream *s, bool waits)
{
    platform_alive(&s->workers->platform->power);
    if (s->plan->n_slots == 0 && s->pages == NULL) {
        return; /* nothing arrives */
    }
    for (uint32_t i = 0; i < s->plan->n_slots; i++) {
        struct stream_slot *slot = &s->slots[i];

        if (slot->state == STREAM_LOADING || (slot == s->early && slot->state == STREAM_IN_USE)) {
            (void)file_read_poll(&slot->read); /* its status stays in the read */
            trace_arrival(s, slot);
            if (waits || s->workers->n_cores == 1) {
                check_ahead(s, slot);
            }
        }
    }
    start_queued(s);
    poll_pages_and_count(s);
}

/* Pages of the cache are on the same device. */
void stream_poll(struct stream *s)
{
    if (!io_core_is_quiet(s->file->device, &s->watch, QUIET_STEPS)) {
        poll_all(s, false);
    }
}

void stream_pump(struct stream *s)
{
    platform_yield(&s->workers->platform->cores);
    while (io_core_is_quiet(s->file->device, &s->watch, QUIET_WAITS)) {
    }
    poll_all(s, true);
}

/* Wait for transfers in flight: the device writes the buffers until they end. */
static void empty_slots(struct stream *s)
{
    for (uint32_t i = 0; i < s->plan->n_slots; i++) {
        struct stream_slot *slot = &s->slots[i];

        while (is_arriving(slot)) {
            (void)file_read_poll(&slot->read);
        }
        slot->state = STREAM_EMPTY;
    }
}

void stream_reset(struct stream *s)
{
    empty_slots(s);
    if (s->pages != NULL) {
        kv_pages_reset(s->pages);
    }
    s->pass++;
    s->next.pass = s->pass + 1;
    s->next.index = 0;
    s->started = false;
    s->early = NULL;
    s->failure = ERR_OK;
    memset(s->missing, 0, sizeof s->missing);
}

static void begin_tiles(struct stream *s)
{
    s->tile_crc = s->tile_crc_before;
    s->tile_crc_end = s->plan->tile_base;
}

void stream_begin(struct stream *s, bool want_head)
{
    s->pass++;
    s->want_head = want_head && s->plan->tiled_head;
    s->tiles_again = 0;
    begin_tiles(s);
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

/* Wait for the first `bytes` of the slot's transfer. Its error, if any, is the read's. */
static enum err wait_arrival(struct stream *s, struct stream_slot *slot, uint64_t bytes)
{
    uint64_t start, begin;

    if (slot->state != STREAM_QUEUED && slot->read.bytes_done >= bytes) {
        s->started = true;
        return ERR_OK;
    }
    stream_poll(s);
    if (slot->state == STREAM_QUEUED ||
        (slot->read.bytes_done < bytes && slot->read.status == ERR_BUSY)) {
        s->stats.stalls += slot->stalled ? 0 : 1;
        s->stats.first_stalls += slot->stalled || s->started ? 0 : 1;
        slot->stalled = true;
        start = stream_ticks(s);
        begin = trace_begin(s->workers->trace);
        do {
            stream_pump(s);
        } while (slot->state == STREAM_QUEUED ||
                 (slot->read.bytes_done < bytes && slot->read.status == ERR_BUSY));
        s->stats.stall_ticks += stream_ticks(s) - start;
        trace_end(s->workers->trace, TRACE_WAIT, slot->segment.index, 0, begin);
    }
    s->started = true;
    return slot->read.status == ERR_BUSY ? ERR_OK : slot->read.status;
}

static enum err fail(struct stream *s, unsigned segment, struct stream_slot *slot, enum err e)
{
    (void)stream_name_problem(s, segment, &slot->read, e);
    stream_reset(s);
    return e;
}

/* All that core 0 had no time for. */
static void check_rest(struct stream *s, struct stream_slot *slot)
{
    while (slot->crc_bytes < slot->read.bytes) {
        uint64_t n = slot->read.bytes - slot->crc_bytes;

        n = n < WORKERS_STEP ? n : WORKERS_STEP;
        slot->crc = workers_crc32c(s->workers, slot->crc, slot->buffer + slot->crc_bytes,
                                   (size_t)n);
        slot->crc_bytes += n;
        stream_poll(s);
    }
}

/* A flipped bit on the way is cured by reading again; one on the card is not. */
static enum err check_layer(struct stream *s, struct stream_slot *slot, unsigned segment)
{
    for (int tries = 0;; tries++) {
        s->stats.retries += slot->read.n_retries;
        if (slot->read.status != ERR_OK) {
            return slot->read.status;
        }
        check_rest(s, slot);
        if (image_check_segment(s->image, segment, slot->crc) == ERR_OK) {
            slot->checked = true;
            return ERR_OK;
        }
        if (tries == STREAM_REREADS) {
            return ERR_BAD_CHECKSUM;
        }
        s->stats.reread++;
        start_read(s, slot);
        while (file_read_poll(&slot->read) == ERR_BUSY) {
        }
    }
}

static struct stream_slot *slot_of_layer(struct stream *s, uint32_t layer)
{
    struct stream_slot *slot;
    uint32_t index = 0;

    while (s->layers[index] != layer) {
        index++;
    }
    slot = slot_of(s, index);
    assert(slot != NULL);
    return slot;
}

enum err stream_layer(struct stream *s, uint32_t layer, uint64_t first, const uint8_t **segment)
{
    uint32_t i = image_layer_segment(s->image, layer);
    struct stream_slot *slot;
    enum err e;

    if (s->segments[i] != NULL) {
        *segment = s->segments[i];
        return ERR_OK;
    }
    slot = slot_of_layer(s, layer);
    e = wait_arrival(s, slot, min_u64(first, s->image->segments[i].bytes));
    slot->state = STREAM_IN_USE;
    s->early = slot;
    if (e == ERR_OK && slot->read.status == ERR_OK) {
        e = check_layer(s, slot, i);
        s->early = NULL;
    }
    if (e != ERR_OK) {
        return fail(s, i, slot, e);
    }
    *segment = slot->buffer;
    return ERR_OK;
}

void stream_need(struct stream *s, unsigned phase, uint64_t bytes)
{
    if (s->early != NULL && s->failure == ERR_OK) {
        s->failure = wait_arrival(s, s->early, bytes);
        s->missing[phase] = s->failure != ERR_OK;
    }
}

enum err stream_layer_check(struct stream *s, uint32_t layer, bool *again)
{
    uint32_t segment = image_layer_segment(s->image, layer);
    struct stream_slot *slot = s->early;
    uint64_t reread = s->stats.reread;
    enum err e = s->failure;

    *again = false;
    if (slot == NULL) {
        return ERR_OK;
    }
    e = e == ERR_OK ? wait_arrival(s, slot, slot->read.bytes) : e;
    e = e == ERR_OK ? check_layer(s, slot, segment) : e;
    s->early = NULL;
    if (e != ERR_OK) {
        return fail(s, segment, slot, e);
    }
    *again = s->stats.reread != reread;
    return ERR_OK;
}

static void give_back(struct stream *s, struct stream_slot *slot)
{
    assert(slot != NULL && slot->state == STREAM_IN_USE);
    s->stats.bytes_streamed += slot->read.bytes;
    slot->state = STREAM_EMPTY;
    request_ahead(s);
}

void stream_layer_done(struct stream *s, uint32_t layer)
{
    if (s->segments[image_layer_segment(s->image, layer)] == NULL) {
        give_back(s, slot_of_layer(s, layer));
    }
}

enum err stream_tile(struct stream *s, uint32_t i, struct plan_tile *tile, const uint8_t **rows)
{
    struct stream_slot *slot = slot_of(s, s->n_layers + i);
    uint64_t end;
    enum err e;

    assert(slot != NULL);
    plan_head_tile(s->plan, s->image, i, tile);
    e = wait_arrival(s, slot, tile->bytes);
    slot->state = STREAM_IN_USE;
    s->stats.retries += slot->read.n_retries;
    if (e != ERR_OK) {
        return fail(s, tile_segment(s), slot, e);
    }
    end = i + 1 == s->plan->n_tiles ? s->plan->tile_end : tile->offset + tile->bytes;
    s->tile_crc = workers_crc32c(s->workers, s->tile_crc,
                                 slot->buffer + (s->tile_crc_end - tile->offset),
                                 (size_t)(end - s->tile_crc_end));
    s->tile_crc_end = end;
    *rows = slot->buffer + tile->skip;
    return ERR_OK;
}

void stream_tile_done(struct stream *s, uint32_t i)
{
    give_back(s, slot_of(s, s->n_layers + i));
}

enum err stream_head_check(struct stream *s, bool *again)
{
    enum err e = image_check_segment(s->image, tile_segment(s), s->tile_crc);

    *again = e != ERR_OK && s->tiles_again < STREAM_REREADS;
    if (*again) {
        s->tiles_again++;
        s->stats.reread++;
        empty_slots(s);
        s->next = (struct stream_segment){ s->pass, s->n_layers };
        begin_tiles(s);
        request_ahead(s);
        return ERR_OK;
    }
    if (e != ERR_OK) {
        (void)stream_name_problem(s, tile_segment(s), NULL, e);
        stream_reset(s);
    }
    return e;
}
