#include "runtime/compute/kv_tiers.h"

#include <string.h>

#include "board/min_max.h"

static uint32_t less(uint32_t a, uint32_t b)
{
    return a > b ? a - b : 0;
}

struct kv_types kv_tier_types(struct kv_types types, enum kv_tier tier)
{
    if (tier == KV_TIER_HOT) {
        return (struct kv_types){ .keys = types.keys, .values = types.values };
    }
    return kv_both(tier == KV_TIER_WARM ? types.warm : types.cold);
}

size_t kv_tier_slots(struct kv_types t, enum kv_tier tier, uint32_t n_tiles)
{
    uint32_t older = less(n_tiles, t.hot_tiles); /* tiles that leave the hot tier */

    if (t.hot_tiles == 0) {
        return tier == KV_TIER_HOT ? n_tiles : 0;
    }
    switch (tier) {
    case KV_TIER_HOT: return min_u32(n_tiles, t.hot_tiles + KV_TIERS_KEPT);
    case KV_TIER_WARM: return t.warm_tiles == 0 ? 0 : min_u32(older, t.warm_tiles + KV_TIERS_KEPT);
    default: return less(older, t.warm_tiles);
    }
}

void kv_tiers_open(struct kv_cache *c)
{
    c->tiers = (struct kv_tiers){
        .n_hot = (uint32_t)kv_tier_slots(c->types, KV_TIER_HOT, c->n_tiles),
        .n_warm = (uint32_t)kv_tier_slots(c->types, KV_TIER_WARM, c->n_tiles),
    };
}

static enum kv_tier tier_of(const struct kv_cache *c, uint32_t age)
{
    if (age < c->types.hot_tiles) {
        return KV_TIER_HOT;
    }
    return age < c->types.hot_tiles + c->types.warm_tiles ? KV_TIER_WARM : KV_TIER_COLD;
}

static struct kv_tile keys_in(const struct kv_cache *c, uint32_t layer, uint32_t head, uint32_t i,
                              enum kv_tier tier)
{
    const struct kv_layer *l = &c->layers[layer];
    const struct kv_tier_place *p = tier == KV_TIER_WARM ? &l->warm : &l->cold;
    size_t n = kv_tier_slots(c->types, tier, c->n_tiles);
    size_t at = p->keys + (head * n + (tier == KV_TIER_WARM ? i % n : i)) * p->key_bytes;

    if (tier == KV_TIER_HOT) {
        at = l->keys.at + head * l->keys.head_bytes + i % n * l->keys.step_bytes;
    }
    return (struct kv_tile){ &kv_formats[kv_tier_types(c->types, tier).keys], l->place + at };
}

static struct kv_tile values_in(const struct kv_cache *c, uint32_t layer, uint32_t head, uint32_t i,
                                enum kv_tier tier)
{
    const struct kv_layer *l = &c->layers[layer];
    const struct kv_tier_place *p = tier == KV_TIER_WARM ? &l->warm : &l->cold;
    size_t n = kv_tier_slots(c->types, tier, c->n_tiles);
    size_t at = p->values + (head * n + (tier == KV_TIER_WARM ? i % n : i)) * p->value_bytes;

    if (tier == KV_TIER_HOT) {
        at = l->values.at + head * l->values.head_bytes + i % n * l->values.step_bytes;
    }
    return (struct kv_tile){ &kv_formats[kv_tier_types(c->types, tier).values], l->place + at };
}

struct kv_tile kv_tiers_keys(const struct kv_cache *c, uint32_t layer, uint32_t head, uint32_t i,
                             uint32_t tile)
{
    return keys_in(c, layer, head, i, tier_of(c, tile - i));
}

struct kv_tile kv_tiers_values(const struct kv_cache *c, uint32_t layer, uint32_t head, uint32_t i,
                               uint32_t tile)
{
    return values_in(c, layer, head, i, tier_of(c, tile - i));
}

uint32_t kv_tiers_limit(const struct kv_cache *c, uint32_t position, uint32_t n)
{
    return c->types.hot_tiles == 0 ? n : min_u32(n, KV_TILE - position % KV_TILE);
}

/* ---- moving ---------------------------------------------------------------------------------- */

static void move_keys(const struct kernels *k, struct kv_tile to, struct kv_tile from, uint32_t d,
                      float *work)
{
    if (to.format == from.format) { /* rounding again would change the numbers */
        memcpy(to.data, from.data, to.format->key_bytes(d));
        return;
    }
    if (to.format->put_key == NULL) {
        to.format->pack_keys(to.data, d, from.format, from.data, work);
        return;
    }
    for (uint32_t j = 0; j < KV_TILE; j++) {
        from.format->get_key(from.data, d, j, work);
        to.format->put_key(k, to.data, d, j, work);
    }
}

static void move_values(const struct kernels *k, struct kv_tile to, struct kv_tile from, uint32_t d,
                        float *work)
{
    if (to.format == from.format) {
        memcpy(to.data, from.data, to.format->value_bytes(d));
        return;
    }
    for (uint32_t j = 0; j < KV_TILE; j++) {
        from.format->get_value(from.data, d, j, work);
        to.format->put_value(k, to.data, d, j, work);
    }
}

/* Move a tile of all layers and heads. */
static void move_tile(const struct kv_cache *c, const struct kernels *k, uint32_t i,
                      enum kv_tier from, enum kv_tier to, float *work)
{
    for (uint32_t layer = 0; layer < c->n_layers; layer++) {
        const struct kv_layer *l = &c->layers[layer];

        for (uint32_t head = 0; head < l->n_kv_heads && l->own; head++) {
            move_keys(k, keys_in(c, layer, head, i, to), keys_in(c, layer, head, i, from),
                      l->head_dim, work);
            move_values(k, values_in(c, layer, head, i, to), values_in(c, layer, head, i, from),
                        l->value_dim, work);
        }
    }
}

/* Advance to the next tile: first move the oldest warm tile, then the oldest hot tile. */
static void step(struct kv_cache *c, const struct kernels *k, float *work)
{
    struct kv_tiers *t = &c->tiers;
    uint32_t hot = c->types.hot_tiles, warm = c->types.warm_tiles;
    enum kv_tier newer = warm == 0 ? KV_TIER_HOT : KV_TIER_WARM;

    t->tile++;
    t->hot_from = max_u32(t->hot_from, less(t->tile + 1, t->n_hot));
    if (t->tile >= hot + warm) {
        move_tile(c, k, t->tile - hot - warm, newer, KV_TIER_COLD, work);
    }
    if (t->tile >= hot && warm != 0) {
        move_tile(c, k, t->tile - hot, KV_TIER_HOT, KV_TIER_WARM, work);
        t->warm_from = max_u32(t->warm_from, less(t->tile - hot + 1, t->n_warm));
    }
}

void kv_tiers_begin(struct kv_cache *c, const struct kernels *k, uint32_t position, float *work)
{
    while (c->types.hot_tiles != 0 && c->tiers.tile < position / KV_TILE) {
        step(c, k, work);
    }
}

/* ---- cutting back ---------------------------------------------------------------------------- */

uint32_t kv_tiers_tile(uint32_t n)
{
    return less(n, 1) / KV_TILE;
}

/* Return the first hot tile and the first warm tile in a pass over `tile`. */
static uint32_t first_hot(const struct kv_cache *c, uint32_t tile)
{
    return less(tile + 1, c->types.hot_tiles);
}

static uint32_t first_warm(const struct kv_cache *c, uint32_t tile)
{
    return less(first_hot(c, tile), c->types.warm_tiles);
}

uint32_t kv_tiers_cut(struct kv_cache *c, uint32_t n)
{
    struct kv_tiers *t = &c->tiers;
    uint32_t tile = kv_tiers_tile(n);

    if (tile >= t->tile && n != 0) {
        return n;
    }
    if (n != 0 && first_hot(c, tile) >= t->hot_from &&
        (c->types.warm_tiles == 0 || first_warm(c, tile) >= t->warm_from)) {
        t->tile = tile;
        return n;
    }
    kv_tiers_open(c);
    return 0;
}

void kv_tiers_loaded(struct kv_cache *c, uint32_t n)
{
    c->tiers.tile = kv_tiers_tile(n);
    c->tiers.hot_from = first_hot(c, c->tiers.tile);
    c->tiers.warm_from = first_warm(c, c->tiers.tile);
}
