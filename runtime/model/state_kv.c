#include "runtime/model/state_kv.h"

#include "board/min_max.h"
#include "runtime/compute/kv_tiers.h"
#include "runtime/stream/kv_pages.h"

static void kv_clear(struct layer_state *st)
{
    struct kv_cache *kv = st->self;

    kv_tiers_open(kv); /* positions beyond the length are written before they are read */
    if (kv->pool != NULL) {
        kv_table_cut(kv->pool, kv->table, 0);
    }
}

/* Return true if no earlier layer has attention. */
static bool is_first(const struct layer_state *st)
{
    const struct kv_cache *kv = st->self;
    uint32_t first = 0;

    while (first < st->layer && kv->layers[first].n_kv_heads == 0) {
        first++;
    }
    return first == st->layer;
}

/* Begin all layers when the first layer begins. */
static void kv_begin(struct layer_state *st, uint32_t position)
{
    struct kv_cache *kv = st->self;

    if (is_first(st)) {
        kv_pages_begin(kv->pages, position, false);
    }
}

static enum err kv_enter(struct layer_state *st, uint32_t position)
{
    struct kv_cache *kv = st->self;

    (void)position;
    return kv_pages_enter(kv->pages, st->layer);
}

static enum err kv_leave(struct layer_state *st, uint32_t end)
{
    struct kv_cache *kv = st->self;

    return kv_pages_leave(kv->pages, st->layer, end);
}

/* Cut to n tokens. Fewer tokens may be left, because pages on the card may have been lost. */
static uint32_t kv_cut(struct layer_state *st, uint32_t n)
{
    struct kv_cache *kv = st->self;

    if (kv->types.hot_tiles != 0) {
        return kv_tiers_cut(kv, n);
    }
    if (kv->pool != NULL) {
        kv_table_cut(kv->pool, kv->table, n);
    }
    if (kv->pages == NULL) {
        return n;
    }
    return min_u32(n, kv_pages_take_valid(kv->pages));
}

/* Move tokens [first, n): for each head the tiles of keys, then the tiles of values. A layer that
 * uses another layer's cache moves nothing. */
static enum err move_tiles(const struct kv_cache *kv, uint32_t layer, uint32_t first, uint32_t n,
                           const struct layer_state_io *io)
{
    const struct kv_layer *l = &kv->layers[layer];

    for (uint32_t i = 0; i < 2 * l->n_kv_heads && l->own; i++) {
        const struct kv_part *part = i % 2 == 0 ? &l->keys : &l->values;
        uint8_t *head = l->place + part->at + i / 2 * part->head_bytes;

        for (uint32_t tile = first / KV_TILE; tile * KV_TILE < n; tile++) {
            /* A layer whose bytes are only skipped has no slots. */
            uint32_t slot = kv->table != NULL && !io->discards ? kv->table->slots[tile] : tile;
            enum err e = io->move(io->context, head + slot * part->step_bytes, part->tile_bytes);

            if (e != ERR_OK) {
                return e;
            }
        }
    }
    return ERR_OK;
}

static enum err move_tier_tile(const struct kv_cache *kv, uint32_t layer, uint32_t head, uint32_t i,
                               uint32_t tile, bool keys, const struct layer_state_io *io)
{
    const struct kv_layer *l = &kv->layers[layer];
    struct kv_tile t;

    if (keys) {
        t = kv_tiers_keys(kv, layer, head, i, tile);
        return io->move(io->context, t.data, t.format->key_bytes(l->head_dim));
    }
    t = kv_tiers_values(kv, layer, head, i, tile);
    return io->move(io->context, t.data, t.format->value_bytes(l->value_dim));
}

/* Move the tiers of n tokens. */
static enum err move_tiers(struct kv_cache *kv, uint32_t layer, uint32_t n,
                           const struct layer_state_io *io)
{
    const struct kv_layer *l = &kv->layers[layer];
    uint32_t tile = kv_tiers_tile(n), tiles = (n + KV_TILE - 1) / KV_TILE;

    if (io->loads && !io->discards) {
        kv_tiers_loaded(kv, n);
    }
    for (uint32_t i = 0; i < 2 * l->n_kv_heads * tiles && l->own; i++) {
        bool keys = i / tiles % 2 == 0;
        enum err e = move_tier_tile(kv, layer, i / tiles / 2, i % tiles, tile, keys, io);

        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

/* Layers whose pages spill to the card are moved one after the other, as in a pass. */
static enum err move_pages(const struct layer_state *st, uint32_t n,
                           const struct layer_state_io *io)
{
    struct kv_cache *kv = st->self;
    uint32_t layer = st->layer;
    enum err e;

    if (is_first(st)) {
        kv_pages_begin(kv->pages, io->loads ? 0 : n, true);
    }
    e = kv_pages_enter(kv->pages, layer);
    if (e == ERR_OK) {
        e = move_tiles(kv, layer, 0, n, io);
    }
    if (e == ERR_OK) {
        e = kv_pages_leave(kv->pages, layer, n);
    }
    if (e != ERR_OK) {
        kv_pages_reset(kv->pages);
    }
    return e;
}

static enum err kv_move(struct layer_state *st, uint32_t n, const struct layer_state_io *io)
{
    struct kv_cache *kv = st->self;

    if (kv->types.hot_tiles != 0) {
        return move_tiers(kv, st->layer, n, io);
    }
    if (io->loads && !io->discards && n != 0 && is_first(st)) {
        kv_cache_write(kv, 0, n);
    }
    if (kv->pages != NULL && !io->discards) {
        return move_pages(st, n, io);
    }
    return move_tiles(kv, st->layer, 0, n, io);
}

enum err state_kv_move_part(struct layer_state *st, uint32_t first, uint32_t end,
                            const struct layer_state_io *io)
{
    struct kv_cache *kv = st->self;

    if (io->loads && !io->discards && is_first(st)) {
        kv_cache_write(kv, first, end);
    }
    return move_tiles(kv, st->layer, first, end, io);
}

const struct layer_state_kind state_kv = {
    .name = "keys and values",
    .clear = kv_clear,
    .begin = kv_begin,
    .enter = kv_enter,
    .leave = kv_leave,
    .cut = kv_cut,
    .move = kv_move,
};
