#include "runtime/stream/stream.h"

#include <assert.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/compute/workers_crc32c.h"
#include "runtime/stream/stream_private.h"

enum {
    CRC_STEP = 128 * 1024, /* the most bytes that core 0 checks in a poll, to keep polls short */
    QUIET_STEPS = 256,     /* the most calls in a row without a poll, while nothing can arrive */
    QUIET_WAITS = 20000,   /* the same limit while all cores wait */
};

static const struct ingot_segment *layer_segment(const struct stream *s, uint32_t index)
{
    return &s->image->segments[image_layer_segment(s->image, s->ring.layers[index])];
}

static bool is_tile(const struct stream *s, uint32_t index)
{
    return index >= s->ring.n_layers;
}

/* ---- the ring ----------------------------------------------------------------------------- */

struct stream_slot *stream_slot_of(struct stream *s, uint32_t index)
{
    for (uint32_t i = 0; i < s->plan->memory.n_slots; i++) {
        struct stream_slot *slot = &s->ring.slots[i];

        if (slot->state != STREAM_EMPTY && slot->segment.pass == s->ring.pass &&
            slot->segment.index == index) {
            return slot;
        }
    }
    return NULL;
}

void stream_start_read(const struct stream *s, struct stream_slot *slot)
{
    struct plan_tile tile;
    const struct ingot_segment *x;

    slot->crc = 0;
    slot->crc_bytes = 0;
    /* Tiles come after the layers and have no experts. */
    if (is_tile(s, slot->segment.index)) {
        plan_head_tile(s->plan, s->image, slot->segment.index - s->ring.n_layers, &tile);
        (void)file_read_start(&slot->read, s->file, tile.offset, slot->buffer, tile.bytes);
        return;
    }
    /* If a layer's experts are in a cache, read only the part before the experts. */
    x = layer_segment(s, slot->segment.index);
    (void)file_read_start(&slot->read, s->file, x->offset, slot->buffer,
                          (size_t)plan_layer_bytes(s->image, x->layer,
                                                   s->plan->experts.n_slots != 0));
}

/* Return the number of this pass's segments: streamed layers, and the head's tiles. */
static uint32_t pass_end(const struct stream *s)
{
    if (!s->ring.want_head) {
        return s->ring.n_layers;
    }
    return s->ring.n_layers + s->plan->head.n_tiles;
}

static bool is_arriving(const struct stream_slot *slot)
{
    return (slot->state == STREAM_LOADING || slot->state == STREAM_IN_USE) &&
           slot->read.status == ERR_BUSY;
}

/* Return true if the segment of slot a is needed before that of slot b. */
static bool comes_before(const struct stream *s, const struct stream_slot *a,
                         const struct stream_slot *b)
{
    if (a->segment.pass == b->segment.pass) {
        return a->segment.index < b->segment.index;
    }
    return a->segment.pass - s->ring.pass < b->segment.pass - s->ring.pass;
}

/* Return the next queued slot, or NULL if none is queued, or if the previous segment still has
 * pieces to request. If two segments shared the card, the first would come late. */
static struct stream_slot *next_queued(struct stream *s)
{
    struct stream_slot *first = NULL;

    for (uint32_t i = 0; i < s->plan->memory.n_slots; i++) {
        struct stream_slot *slot = &s->ring.slots[i];

        /* Begin no other segment while this one still has pieces to request. */
        if (is_arriving(slot) && slot->read.bytes_issued < slot->read.bytes) {
            return NULL;
        }
        if (slot->state == STREAM_QUEUED && (first == NULL || comes_before(s, slot, first))) {
            first = slot;
        }
    }
    return first;
}

/* Return how many bytes of the segments in flight have arrived, without experts. */
static uint64_t arrived_bytes(const struct stream *s)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < s->plan->memory.n_slots; i++) {
        const struct stream_slot *slot = &s->ring.slots[i];

        if (slot->state == STREAM_LOADING || slot == s->now.early) {
            bytes += slot->read.bytes_done;
        }
    }
    return bytes;
}

/* Begin the card's busy time when the read begins, because the read may be complete at the first
 * poll. */
void stream_begin_count(struct stream *s)
{
    /* If nothing was in flight, the count begins now. */
    if (s->card.polled_at == 0) {
        s->card.polled_at = stream_ticks(s);
        s->card.moved_at = s->card.polled_at;
        s->card.arriving = s->card.guest + arrived_bytes(s);
    }
}

static void start_queued(struct stream *s)
{
    struct stream_slot *slot;

    while ((slot = next_queued(s)) != NULL) {
        stream_begin_count(s);
        slot->state = STREAM_LOADING;
        slot->begun = trace_begin(s->workers->trace);
        stream_start_read(s, slot);
    }
}

/* Trace the slot's transfer if it has ended. */
static void trace_arrival(const struct stream *s, struct stream_slot *slot)
{
    struct trace *trace = s->workers->trace;
    uint32_t index = slot->segment.index;

    if (slot->begun == 0 || slot->read.status == ERR_BUSY) {
        return;
    }
    if (is_tile(s, index)) {
        trace_end(trace, TRACE_TILE, index - s->ring.n_layers, TRACE_CARD, slot->begun);
    } else {
        trace_end(trace, TRACE_LAYER, s->ring.layers[index], TRACE_CARD, slot->begun);
    }
    slot->begun = 0;
}

/* Return how many segments of the requested pass are known. Only the layers of the next pass are
 * certain, because a pass says only at its beginning whether it needs the head. */
static uint32_t known_segments(const struct stream *s)
{
    if (s->ring.next.pass != s->ring.pass) {
        return s->ring.n_layers;
    }
    return pass_end(s);
}

static void advance_next(struct stream *s)
{
    if (++s->ring.next.index >= known_segments(s) && s->ring.next.pass == s->ring.pass) {
        s->ring.next.pass++;
        s->ring.next.index = 0;
    }
}

static void request_ahead(struct stream *s)
{
    for (uint32_t i = 0; i < s->plan->memory.n_slots; i++) {
        struct stream_slot *slot = &s->ring.slots[i];

        /* Request at most one pass ahead, and only segments that are certainly needed. */
        if (slot->state != STREAM_EMPTY || s->ring.next.pass - s->ring.pass > 1 ||
            s->ring.next.index >= known_segments(s)) {
            continue;
        }
        slot->segment = s->ring.next;
        slot->state = STREAM_QUEUED;
        slot->checked = false;
        slot->stalled = false;
        advance_next(s);
    }
    start_queued(s);
}

/* Continue the CRC of an arriving layer. Tiles are checked when they are used, in order. */
static void check_ahead(const struct stream *s, struct stream_slot *slot)
{
    uint64_t n = min_u64(slot->read.bytes_done - slot->crc_bytes, CRC_STEP);

    if (is_tile(s, slot->segment.index)) {
        return;
    }
    slot->crc = crc32c(slot->crc, slot->buffer + slot->crc_bytes, (size_t)n);
    slot->crc_bytes += n;
}

static bool poll_guest(const struct stream *s, uint64_t *bytes)
{
    return s->guest.poll != NULL && s->guest.poll(s->guest.context, bytes);
}

/* Poll the guest's transfers, and count the card's busy time from poll to poll while something
 * arrives. */
static void poll_guest_and_count(struct stream *s)
{
    uint64_t now = stream_ticks(s), guest = 0, bytes;
    bool busy = poll_guest(s, &guest);

    busy = stream_experts_arrive(s) || busy;
    for (uint32_t i = 0; i < s->plan->memory.n_slots; i++) {
        busy = busy || is_arriving(&s->ring.slots[i]);
    }
    /* If something was in flight between two polls, the card was busy. */
    bytes = guest + arrived_bytes(s);
    if (s->card.polled_at != 0) {
        s->stats.busy_ticks += now - s->card.polled_at;
        s->stats.arrived += max_u64(bytes, s->card.arriving) - s->card.arriving;
    }
    /* Note the time, to detect a card that has become silent. */
    if (bytes > s->card.arriving) {
        s->card.moved_at = now;
    }
    s->card.polled_at = busy ? now : 0;
    s->card.arriving = bytes;
    s->card.guest = guest;
}

/* Collect the bytes that have arrived for a slot. With `checks` also continue the checksum. */
static void poll_slot(struct stream *s, struct stream_slot *slot, bool checks)
{
    (void)file_read_poll(&slot->read); /* the read keeps its status */
    trace_arrival(s, slot);
    if (checks) {
        check_ahead(s, slot);
    }
}

/* Poll everything. If the cores wait (`waits`), core 0 has time for checksums. Otherwise workers
 * would wait for core 0 at the next barrier, so all cores check a layer together after it has
 * arrived. */
static void poll_all(struct stream *s, bool waits)
{
    bool checks = waits || s->workers->n_cores == 1;

    platform_alive(&s->workers->platform->power);
    if (s->plan->memory.n_slots == 0 && s->guest.poll == NULL && s->experts.all == NULL) {
        return; /* nothing arrives */
    }
    if (s->experts.all != NULL) {
        stream_experts_poll(s, checks);
    }
    /* A layer in use may still have its second part in flight. */
    for (uint32_t i = 0; i < s->plan->memory.n_slots; i++) {
        struct stream_slot *slot = &s->ring.slots[i];

        if (slot->state == STREAM_LOADING ||
            (slot == s->now.early && slot->state == STREAM_IN_USE)) {
            poll_slot(s, slot, checks);
        }
    }
    start_queued(s);
    poll_guest_and_count(s);
}

void stream_take_guest(struct stream *s, const struct stream_guest *guest)
{
    s->guest = *guest;
}

void stream_poll(struct stream *s)
{
    if (!io_core_is_quiet(s->file->device, &s->card.watch, QUIET_STEPS)) {
        poll_all(s, false);
    }
}

void stream_pump(struct stream *s)
{
    platform_yield(&s->workers->platform->cores);
    stream_rest(s);
    while (io_core_is_quiet(s->file->device, &s->card.watch, QUIET_WAITS)) {
    }
    poll_all(s, true);
}

/* Wait for transfers in flight, because the device writes the buffers until they end. */
static void empty_slots(struct stream *s)
{
    for (uint32_t i = 0; i < s->plan->memory.n_slots; i++) {
        struct stream_slot *slot = &s->ring.slots[i];

        while (is_arriving(slot)) {
            (void)file_read_poll(&slot->read);
        }
        slot->state = STREAM_EMPTY;
    }
}

void stream_reset(struct stream *s)
{
    /* Wait, because no transfer may write to a buffer that is about to be reused. */
    empty_slots(s);
    stream_experts_reset(s);
    stream_table_reset(s);
    if (s->guest.reset != NULL) {
        s->guest.reset(s->guest.context);
    }
    /* The next pass begins with its first segment, whatever was requested before. */
    s->ring.pass++;
    s->ring.next.pass = s->ring.pass + 1;
    s->ring.next.index = 0;
    s->ring.started = false;
    s->now.early = NULL;
    s->now.failure = ERR_OK;
    memset(s->now.missing, 0, sizeof s->now.missing);
}

void stream_begin(struct stream *s, bool want_head)
{
    s->ring.pass++;
    s->ring.want_head = want_head && s->plan->head.tiled;
    s->tiles.again = 0;
    stream_begin_tiles(s);
    /* Nothing was requested ahead. */
    if (s->ring.next.pass < s->ring.pass) {
        s->ring.next.pass = s->ring.pass;
        s->ring.next.index = 0;
    }
    /* The previous pass stopped requesting at its last layer, so continue with the tiles or the
     * next pass. */
    if (s->ring.next.index >= pass_end(s)) {
        s->ring.next.pass++;
        s->ring.next.index = 0;
    }
    request_ahead(s);
}

/* Return true if the first `bytes` of the slot's segment have not arrived, and there was no
 * error. */
static bool is_missing(const struct stream_slot *slot, uint64_t bytes)
{
    return slot->state == STREAM_QUEUED ||
           (slot->read.bytes_done < bytes && slot->read.status == ERR_BUSY);
}

/* Wait for the slot, with all cores. */
static void stall(struct stream *s, struct stream_slot *slot, uint64_t bytes)
{
    uint64_t start = stream_ticks(s), begin = trace_begin(s->workers->trace);

    /* Count a segment only once, however often cores wait for it. */
    if (!slot->stalled) {
        s->stats.stalls++;
        s->stats.first_stalls += !s->ring.started;
    }
    slot->stalled = true;
    do {
        stream_pump(s);
    } while (is_missing(slot, bytes));
    s->stats.stall_ticks += stream_ticks(s) - start;
    trace_end(s->workers->trace, TRACE_WAIT, slot->segment.index, 0, begin);
}

/* Wait for the first `bytes` of the slot's transfer. Return ERR_OK or the read's error. */
enum err stream_wait_arrival(struct stream *s, struct stream_slot *slot, uint64_t bytes)
{
    /* Usually the segment was requested in time. */
    if (slot->state != STREAM_QUEUED && slot->read.bytes_done >= bytes) {
        s->ring.started = true;
        return ERR_OK;
    }
    /* One poll may suffice; otherwise every core waits. */
    stream_poll(s);
    if (is_missing(slot, bytes)) {
        stall(s, slot, bytes);
    }
    s->ring.started = true;
    if (slot->read.status == ERR_BUSY) {
        return ERR_OK;
    }
    return slot->read.status;
}

enum err stream_fail(struct stream *s, unsigned segment, struct stream_slot *slot, enum err e)
{
    (void)stream_name_error_message(s, segment, &slot->read, e);
    stream_reset(s);
    return e;
}

void stream_give_back(struct stream *s, struct stream_slot *slot)
{
    assert(slot != NULL && slot->state == STREAM_IN_USE);
    s->stats.bytes_streamed += slot->read.bytes;
    slot->state = STREAM_EMPTY;
    request_ahead(s);
}

void stream_read_again(struct stream *s, uint32_t index)
{
    empty_slots(s);
    s->ring.next = (struct stream_segment){ s->ring.pass, index };
    request_ahead(s);
}
