#include "runtime/stream/kv_pages.h"

#include <assert.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/base/crc32c.h"
#include "runtime/stream/kv_spread.h"
#include "runtime/stream/stream_private.h"
#include "runtime/text/format_text.h"

/* ---- sizes ---------------------------------------------------------------------------------- */

static uint64_t tiles(uint32_t positions)
{
    return (positions + (uint64_t)KV_TILE - 1) / KV_TILE;
}

static uint32_t n_layers(const struct image *image)
{
    return image->header->params.n_layers;
}

static struct kv_layers layers_of(const struct image *image)
{
    return (struct kv_layers){ image->layers, n_layers(image) };
}

/* The sums of the sizes of pages. */
struct page_sums {
    uint64_t spilled, whole; /* sum over layers on the card; sum over layers in memory */
};

static struct page_sums add_pages(const struct image *image, struct kv_types types,
                                  uint32_t n_spilled)
{
    struct kv_spread spread = kv_spread_begin(image, n_spilled);
    struct page_sums s = { 0, 0 };

    for (uint32_t i = 0; i < n_layers(image); i++) {
        const struct ingot_layer *l = image_layer(image, i);

        *(kv_spread_next(&spread, i) ? &s.spilled : &s.whole) += kv_cache_page_bytes(l, types);
    }
    return s;
}

uint64_t kv_pages_file_bytes(const struct image *image, uint32_t context, struct kv_types types,
                             uint32_t n_spilled)
{
    return n_spilled == 0 ? 0 : tiles(context) * add_pages(image, types, n_spilled).spilled;
}

uint64_t kv_pages_memory_bytes(const struct image *image, uint32_t context, struct kv_types types,
                               uint32_t n_spilled)
{
    uint64_t sums = arena_take_bytes(tiles(context) * sizeof(uint32_t));
    struct kv_layers layers = layers_of(image);
    struct page_sums pages;

    if (n_spilled == 0) {
        return kv_cache_bytes(&layers, context, types);
    }
    pages = add_pages(image, types, n_spilled);
    pages.whole += KV_PAGES_SLOTS * kv_cache_largest_page(&layers, types);
    return tiles(context) * pages.whole + pages.spilled + n_spilled * sums;
}

/* Return the first page that a query at `position` or later sees. */
static uint32_t first_page(const struct image *image, uint32_t layer, uint32_t position)
{
    uint32_t window = image_layer(image, layer)->window;

    /* Without a window every page is visible. */
    if (window == 0 || position + 1 <= window) {
        return 0;
    }
    return (position + 1 - window) / KV_TILE;
}

uint64_t kv_pages_read_bytes(const struct image *image, uint32_t context, struct kv_types types,
                             uint32_t n_spilled)
{
    struct kv_spread spread = kv_spread_begin(image, n_spilled);
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < n_layers(image) && n_spilled != 0; i++) {
        if (kv_spread_next(&spread, i)) {
            bytes += (tiles(context) - first_page(image, i, context - 1)) *
                     kv_cache_page_bytes(image_layer(image, i), types);
        }
    }
    return bytes;
}

static struct trace *trace_of(const struct kv_pages *s)
{
    return s->stream->workers->trace;
}

/* ---- arriving ------------------------------------------------------------------------------- */

static uint32_t next_spilled(const struct kv_pages *s, uint32_t layer)
{
    for (;; layer++) {
        if (layer >= s->n_layers) {
            layer = 0;
        }
        if (s->layers[layer].spills) {
            return layer;
        }
    }
}

/* Read the pages from number slot->checked on. If the read is refused, its status has the error. */
static void start_read(const struct kv_pages *s, struct kv_pages_slot *slot)
{
    size_t page_bytes = slot->layer->page_bytes, at = slot->checked * page_bytes;

    slot->bad = false;
    (void)file_read_start(&slot->read, s->file, slot->layer->offset + at, slot->buffer + at,
                          slot->n * page_bytes - at);
}

/* Return the first page of a layer that is needed from now on. */
static uint32_t first_needed(const struct kv_pages *s, const struct kv_pages_layer *l)
{
    if (s->all) {
        return 0;
    }
    return min_u32(first_page(s->image, l->number, s->position), l->on_card);
}

static void request_ahead(struct kv_pages *s)
{
    for (int i = 0; i < KV_PAGES_SLOTS; i++) {
        struct kv_pages_slot *slot = &s->slots[i];

        if (slot->used) {
            continue;
        }
        slot->used = true;
        /* Read the layer's needed pages on the card in one request. */
        slot->layer = &s->layers[s->next];
        slot->n = slot->layer->on_card;
        slot->first = slot->checked = first_needed(s, slot->layer);
        slot->begun = trace_begin(trace_of(s));
        start_read(s, slot);
        s->next = next_spilled(s, s->next + 1);
    }
}

static uint32_t page_crc(const struct kv_pages_slot *slot, uint32_t page)
{
    size_t bytes = slot->layer->page_bytes;

    return crc32c(0, slot->buffer + page * bytes, bytes);
}

/* Return true if an arrived page is not checked yet. */
static bool can_check(const struct kv_pages_slot *slot)
{
    const uint8_t *end = slot->buffer + (slot->checked + (size_t)1) * slot->layer->page_bytes;

    return !slot->bad && slot->read.buffer + slot->read.bytes_done >= end;
}

/* Check one page in each poll, so that polls stay short. */
static void check_ahead(struct kv_pages_slot *slot)
{
    if (can_check(slot)) {
        slot->bad = page_crc(slot, slot->checked) != slot->layer->sums[slot->checked];
        slot->checked += !slot->bad;
    }
}

/* The poll function of struct stream_guest. */
static bool poll_pages(void *context, uint64_t *bytes)
{
    struct kv_pages *s = context;
    bool busy = false;

    for (int i = 0; i < KV_PAGES_SLOTS; i++) {
        struct kv_pages_slot *slot = &s->slots[i];

        if (!slot->used || slot->checked == slot->n) {
            continue;
        }
        if (file_read_poll(&slot->read) != ERR_BUSY) { /* the read keeps its status */
            trace_end(trace_of(s), TRACE_KV, slot->layer->number, TRACE_CARD, slot->begun);
            slot->begun = 0;
        }
        /* Check pages while later pages arrive. */
        check_ahead(slot);
        busy = busy || slot->read.status == ERR_BUSY;
        *bytes += slot->read.bytes_done;
    }
    return busy;
}

void kv_pages_reset(struct kv_pages *s)
{
    for (int i = 0; i < KV_PAGES_SLOTS; i++) {
        struct kv_pages_slot *slot = &s->slots[i];

        /* The device may write to the buffer until the read ends. */
        while (slot->used && file_read_poll(&slot->read) == ERR_BUSY) {
        }
        slot->used = false;
    }
    s->next = next_spilled(s, 0);
    s->turn = s->slots;
}

/* The reset function of struct stream_guest. */
static void reset_pages(void *context)
{
    kv_pages_reset(context);
}

/* ---- opening -------------------------------------------------------------------------------- */

/* Place a layer in memory, or in the file from offset *at on. */
static void place_layer(struct kv_pages *s, struct kv_pages_layer *l, uint64_t *at,
                        struct arena *arena)
{
    size_t whole = s->kv->n_tiles * l->page_bytes;

    if (!l->spills) {
        l->place = arena_take(arena, ARENA_KV, whole);
        return;
    }
    /* Memory keeps the partial page, and a checksum for each page on the card. */
    l->tail = arena_take(arena, ARENA_KV, l->page_bytes);
    l->sums = arena_take(arena, ARENA_KV, s->kv->n_tiles * sizeof(uint32_t));
    l->offset = *at;
    *at += whole;
}

void kv_pages_open(struct kv_pages *s, struct kv_cache *kv, const struct image *image,
                   uint32_t n_spilled, const struct file *file, struct stream *stream,
                   struct arena *arena)
{
    struct kv_layers layers = layers_of(image);
    struct kv_spread spread = kv_spread_begin(image, n_spilled);
    uint64_t at = 0;

    memset(s, 0, sizeof *s);
    s->kv = kv;
    s->valid = UINT32_MAX;
    s->image = image;
    s->file = file;
    s->stream = stream;
    s->n_layers = layers.n;
    for (uint32_t i = 0; i < s->n_layers; i++) {
        struct kv_pages_layer *l = &s->layers[i];

        l->number = i;
        l->page_bytes = kv_cache_page_bytes(image_layer(image, i), kv->types);
        l->spills = kv_spread_next(&spread, i);
        kv_layer_set_pages(&kv->layers[i], l->page_bytes);
        place_layer(s, l, &at, arena);
    }
    for (int i = 0; i < KV_PAGES_SLOTS; i++) {
        s->slots[i].buffer = arena_take(arena, ARENA_KV,
                                        kv->n_tiles * kv_cache_largest_page(&layers, kv->types));
    }
    /* From now on the stream polls these reads together with its own. */
    kv->pages = s;
    stream_take_guest(stream, &(struct stream_guest){ s, poll_pages, reset_pages });
    kv_pages_reset(s);
}

/* ---- a layer's turn ------------------------------------------------------------------------- */

static enum err fail(struct kv_pages *s, uint32_t layer, uint32_t page,
                     const struct file_read *read, enum err e)
{
    const char *why = block_device_reason(s->file->device, e);
    char part[64];

    /* The card returned other bytes than were written, so these positions are computed again. */
    if (e == ERR_BAD_CHECKSUM) {
        why = "their bytes differ from those written: ask again, and they are computed again";
    }
    format_text(part, sizeof part, "keys and values of layer %u from token %u on", (unsigned)layer,
                (unsigned)page * KV_TILE);
    stream_reset(s->stream);
    return stream_name_part(s->stream, s->file, part, read, e, why);
}

static bool is_arriving(const struct kv_pages_slot *slot)
{
    return slot->checked != slot->n && (slot->read.status == ERR_BUSY || can_check(slot));
}

static void wait_arrival(const struct kv_pages *s, const struct kv_pages_slot *slot)
{
    uint64_t start = stream_ticks(s->stream), begin = trace_begin(trace_of(s));

    if (!is_arriving(slot)) {
        return;
    }
    while (is_arriving(slot)) {
        stream_pump(s->stream);
    }
    s->stream->stats.stalls++;
    s->stream->stats.stall_ticks += stream_ticks(s->stream) - start;
    trace_end(trace_of(s), TRACE_WAIT, slot->layer->number, 0, begin);
}

/* Check all pages. After a wrong page, read again from there on. */
static enum err wait_right(struct kv_pages *s, struct kv_pages_slot *slot)
{
    struct stream_stats *f = &s->stream->stats;

    for (int tries = 0;; tries++) {
        wait_arrival(s, slot);
        f->retries += slot->read.n_retries;
        if (slot->read.status != ERR_OK || !slot->bad) {
            return slot->read.status;
        }
        /* Reading again did not help, so the page is wrong on the card. */
        if (tries == STREAM_REREADS) {
            return ERR_BAD_CHECKSUM;
        }
        f->reread++;
        start_read(s, slot);
    }
}

/* If the last page is partial, copy it from the tail to the slot, or from the slot to the tail if
 * the conversation was cut back. Then count only the full pages before the run's position as on the
 * card, so that nothing before the position is lost if this pass fails. */
static void place_tail(struct kv_pages *s, struct kv_pages_slot *slot)
{
    struct kv_pages_layer *l = slot->layer;
    uint32_t page = s->position / KV_TILE;
    uint8_t *place = slot->buffer + page * l->page_bytes;

    if (s->position % KV_TILE != 0 && l->on_card > page) { /* the conversation was cut back */
        memcpy(l->tail, place, l->page_bytes);
    } else if (s->position % KV_TILE != 0) {
        memcpy(place, l->tail, l->page_bytes);
    }
    l->on_card = page;
}

/* Return true if the pages requested in the previous run do not suffice, because the cache was
 * longer or fewer pages were needed. */
static bool lacks_pages(const struct kv_pages *s)
{
    bool lacks = false;

    for (int i = 0; i < KV_PAGES_SLOTS; i++) {
        const struct kv_pages_slot *slot = &s->slots[i];

        lacks = lacks || (slot->used && slot->first > first_needed(s, slot->layer));
    }
    return lacks;
}

uint32_t kv_pages_take_valid(struct kv_pages *s)
{
    uint32_t valid = s->valid;

    s->valid = UINT32_MAX;
    return valid;
}

void kv_pages_begin(struct kv_pages *s, uint32_t position, bool all)
{
    if (s == NULL) {
        return;
    }
    s->all = all;
    s->position = position;
    s->valid = UINT32_MAX;
    for (uint32_t i = 0; i < s->n_layers; i++) { /* forget pages after the position */
        s->layers[i].on_card = min_u32(s->layers[i].on_card, (uint32_t)tiles(s->position));
    }
    /* If the pages that were requested ahead do not suffice, request again. */
    if (lacks_pages(s)) {
        kv_pages_reset(s);
    }
    request_ahead(s);
}

enum err kv_pages_enter(struct kv_pages *s, uint32_t layer)
{
    struct kv_pages_slot *slot;
    enum err e;

    if (s == NULL) {
        return ERR_OK;
    }
    /* This layer is completely in memory. */
    if (!s->layers[layer].spills) {
        s->kv->layers[layer].place = s->layers[layer].place;
        return ERR_OK;
    }
    slot = s->turn;
    assert(slot->used && slot->layer->number == layer);
    e = wait_right(s, slot);
    if (e != ERR_OK) {
        /* Positions before the wrong page can still be used. */
        s->valid = min_u32(s->valid, min_u32(s->position, slot->checked * KV_TILE));
        return fail(s, layer, slot->checked, &slot->read, e);
    }
    s->stream->stats.kv_read += (slot->n - slot->first) * slot->layer->page_bytes;
    place_tail(s, slot);
    s->kv->layers[layer].place = slot->buffer;
    return ERR_OK;
}

/* Write pages [first, last) of a layer, which are full now. */
static enum err write_pages(struct kv_pages *s, const struct kv_pages_slot *slot, uint32_t first,
                            uint32_t last)
{
    const struct kv_pages_layer *l = slot->layer;
    size_t at = first * l->page_bytes;
    enum err e;

    /* Keep the checksum in memory, to notice a card that returns old bytes. */
    for (uint32_t i = first; i < last; i++) {
        l->sums[i] = page_crc(slot, i);
    }
    e = file_write_start(&s->write, s->file, l->offset + at, slot->buffer + at,
                         (last - first) * l->page_bytes);
    while (e == ERR_OK && file_read_poll(&s->write) == ERR_BUSY) {
        stream_pump(s->stream);
    }
    s->stream->stats.kv_written += (last - first) * l->page_bytes;
    if (e != ERR_OK) {
        return e;
    }
    return s->write.status;
}

enum err kv_pages_leave(struct kv_pages *s, uint32_t layer, uint32_t end)
{
    struct kv_pages_slot *slot;
    uint32_t first, last = end / KV_TILE;
    enum err e = ERR_OK;

    if (s == NULL || !s->layers[layer].spills) {
        return ERR_OK;
    }
    slot = s->turn;
    first = s->position / KV_TILE;
    /* Only full pages are written to the card. */
    if (last > first) {
        e = write_pages(s, slot, first, last);
    }
    if (e != ERR_OK) {
        return fail(s, layer, first, &s->write, e);
    }
    slot->layer->on_card = last;
    /* Keep the partial page in memory for the next pass. */
    if (end % KV_TILE != 0) {
        memcpy(slot->layer->tail, slot->buffer + last * slot->layer->page_bytes,
               slot->layer->page_bytes);
    }
    /* Free the slot for the layer after the next. */
    slot->used = false;
    s->turn = &s->slots[slot == s->slots];
    request_ahead(s);
    return ERR_OK;
}
