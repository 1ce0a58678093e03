#include "runtime/compute/kv_cache.h"
#include "board/min_max.h"
#include "runtime/compute/kv_rotate.h"
#include "runtime/compute/kv_tiers.h"

#include <string.h>

enum { SECTOR = 512 };

static size_t tiles(uint32_t context)
{
    return ((size_t)context + KV_TILE - 1) / KV_TILE;
}

bool kv_cache_keeps(const struct ingot_layer *l)
{
    return l->mixer == INGOT_MIXER_ATTENTION && (l->features & INGOT_SHARED_KV) == 0;
}

uint32_t kv_cache_value_dim(const struct ingot_layer *l)
{
    return (l->features & INGOT_LATENT_KV) != 0 ? l->kv_rank : l->head_dim;
}

static size_t key_bytes(const struct ingot_layer *l, struct kv_types types)
{
    return kv_formats[types.keys].key_bytes(l->head_dim);
}

static size_t value_bytes(const struct ingot_layer *l, struct kv_types types)
{
    return kv_formats[types.values].value_bytes(kv_cache_value_dim(l));
}

size_t kv_cache_page_bytes(const struct ingot_layer *l, struct kv_types types)
{
    size_t bytes;

    if (!kv_cache_keeps(l)) {
        return 0;
    }
    /* A page is written to a card unchanged, so its size is a multiple of a sector. */
    bytes = l->n_kv_heads * (key_bytes(l, types) + value_bytes(l, types));
    return (bytes + SECTOR - 1) / SECTOR * SECTOR;
}

size_t kv_cache_largest_page(const struct kv_layers *layers, struct kv_types types)
{
    size_t most = 0;

    for (uint32_t i = 0; i < layers->n; i++) {
        most = max_size(most, kv_cache_page_bytes(&layers->layers[i], types));
    }
    return most;
}

/* Return the bytes of all tiles of a layer. */
static size_t layer_bytes(const struct ingot_layer *l, uint32_t n_tiles, struct kv_types types)
{
    size_t bytes = 0;

    for (enum kv_tier tier = KV_TIER_HOT; tier <= KV_TIER_COLD; tier++) {
        /* Without tiers, all slots are in the first tier. */
        bytes += kv_tier_slots(types, tier, n_tiles) *
                 kv_cache_page_bytes(l, kv_tier_types(types, tier));
    }
    return bytes;
}

size_t kv_cache_bytes(const struct kv_layers *layers, uint32_t context, struct kv_types types)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < layers->n; i++) {
        bytes += layer_bytes(&layers->layers[i], (uint32_t)tiles(context), types);
    }
    return bytes;
}

/* All tiles of a head are contiguous; returns the size of all heads. */
static size_t lay_part(struct kv_part *part, size_t at, size_t tile, size_t n_tiles, size_t heads)
{
    *part = (struct kv_part){ at, tile, n_tiles * tile, tile };
    return heads * part->head_bytes;
}

void kv_layer_set_pages(struct kv_layer *l, size_t page_bytes)
{
    l->keys.head_bytes = l->keys.tile_bytes;
    l->values.head_bytes = l->values.tile_bytes;
    l->values.at = l->n_kv_heads * l->keys.tile_bytes;
    l->keys.step_bytes = l->values.step_bytes = page_bytes;
}

/* Lay out a tier after `at` bytes; returns its size. */
static size_t lay_tier(const struct kv_cache *c, const struct ingot_layer *l, enum kv_tier tier,
                       size_t at, struct kv_tier_place *place)
{
    struct kv_types types = kv_tier_types(c->types, tier);
    size_t n = kv_tier_slots(c->types, tier, c->n_tiles);

    *place = (struct kv_tier_place){ at, at + n * l->n_kv_heads * key_bytes(l, types),
                                     (uint32_t)key_bytes(l, types),
                                     (uint32_t)value_bytes(l, types) };
    return n * kv_cache_page_bytes(l, types);
}

/* Lay out a layer that has its own cache. */
static void lay_layer(const struct kv_cache *c, const struct ingot_layer *l, struct kv_layer *k)
{
    uint32_t n = (uint32_t)kv_tier_slots(c->types, KV_TIER_HOT, c->n_tiles);
    size_t size = lay_part(&k->keys, 0, key_bytes(l, c->types), n, k->n_kv_heads);

    /* The keys of all heads come first, then all values, then the other tiers. */
    (void)lay_part(&k->values, size, value_bytes(l, c->types), n, k->n_kv_heads);
    size = n * kv_cache_page_bytes(l, c->types);
    size += lay_tier(c, l, KV_TIER_WARM, size, &k->warm);
    (void)lay_tier(c, l, KV_TIER_COLD, size, &k->cold);
}

void kv_cache_open(struct kv_cache *c, const struct kv_layers *layers, uint32_t context,
                   struct kv_types types, void *memory)
{
    uint8_t *place = memory;

    memset(c, 0, sizeof *c);
    c->types = types;
    c->n_tiles = (uint32_t)tiles(context);
    c->n_layers = layers->n;
    c->context = context;
    kv_tiers_open(c);
    for (uint32_t i = 0; i < layers->n; i++) {
        const struct ingot_layer *l = &layers->layers[i];
        struct kv_layer *k = &c->layers[i];

        /* Recurrent layers keep their own state. */
        if (l->mixer != INGOT_MIXER_ATTENTION) {
            continue;
        }
        if (!kv_cache_keeps(l)) { /* the layer reads the cache of an earlier layer (image_mixers.c
                                   * checks this) */
            *k = c->layers[l->kv_layer];
            k->own = false;
            continue;
        }
        k->n_kv_heads = l->n_kv_heads;
        k->head_dim = l->head_dim;
        k->value_dim = kv_cache_value_dim(l);
        k->own = true;
        k->place = place;
        lay_layer(c, l, k);
        place += layer_bytes(l, c->n_tiles, types);
    }
}

static size_t tile_offset(const struct kv_part *part, uint32_t head, uint32_t i)
{
    return part->at + head * part->head_bytes + i * part->step_bytes;
}

static uint32_t slot_of(const struct kv_cache *c, uint32_t i)
{
    return c->table != NULL ? c->table->slots[i] : i;
}

/* Copy a slot for all layers and heads. */
static void copy_slot(void *context, uint32_t to, uint32_t from)
{
    const struct kv_cache *c = context;

    for (uint32_t i = 0; i < c->n_layers; i++) {
        const struct kv_layer *l = &c->layers[i];

        for (uint32_t head = 0; head < l->n_kv_heads && l->own; head++) {
            memcpy(l->place + tile_offset(&l->keys, head, to),
                   l->place + tile_offset(&l->keys, head, from), l->keys.tile_bytes);
            memcpy(l->place + tile_offset(&l->values, head, to),
                   l->place + tile_offset(&l->values, head, from), l->values.tile_bytes);
        }
    }
}

void kv_cache_use_pool(struct kv_cache *c, struct kv_pool *pool)
{
    /* A tile that two sequences share is copied before one of them writes to it. */
    pool->copy = copy_slot;
    pool->context = c;
    c->pool = pool;
    c->table = &pool->tables[0];
}

void kv_cache_write(struct kv_cache *c, uint32_t first, uint32_t end)
{
    if (c->pool != NULL) {
        kv_table_write(c->pool, c->table, first, end);
    }
}

struct kv_tile kv_cache_keys(const struct kv_cache *c, uint32_t layer, uint32_t head, uint32_t i)
{
    const struct kv_layer *l = &c->layers[layer];

    if (c->types.hot_tiles != 0) {
        return kv_tiers_keys(c, layer, head, i, c->tiers.tile);
    }
    return (struct kv_tile){ &kv_formats[c->types.keys],
                             l->place + tile_offset(&l->keys, head, slot_of(c, i)) };
}

struct kv_tile kv_cache_values(const struct kv_cache *c, uint32_t layer, uint32_t head, uint32_t i)
{
    const struct kv_layer *l = &c->layers[layer];

    if (c->types.hot_tiles != 0) {
        return kv_tiers_values(c, layer, head, i, c->tiers.tile);
    }
    return (struct kv_tile){ &kv_formats[c->types.values],
                             l->place + tile_offset(&l->values, head, slot_of(c, i)) };
}

/* Return true if heads are rotated. If one tier is rotated, all tiers are. */
static bool rotates(const struct kv_cache *c, uint8_t type)
{
    bool tiers = c->types.hot_tiles != 0;

    return kv_formats[type].rotated ||
           (tiers && (kv_formats[c->types.warm].rotated || kv_formats[c->types.cold].rotated));
}

bool kv_cache_integer_query(const struct kv_cache *c)
{
    bool tiers = c->types.hot_tiles != 0;

    return kv_formats[c->types.keys].integer_query ||
           (tiers &&
            (kv_formats[c->types.warm].integer_query || kv_formats[c->types.cold].integer_query));
}

uint32_t kv_cache_key_rotation(const struct kv_cache *c, uint32_t layer)
{
    return rotates(c, c->types.keys) ? kv_rotation(c->layers[layer].head_dim) : 1;
}

uint32_t kv_cache_value_rotation(const struct kv_cache *c, uint32_t layer)
{
    return rotates(c, c->types.values) ? kv_rotation(c->layers[layer].value_dim) : 1;
}

static const float *rotated(const struct kernels *k, const float *x, uint32_t d, uint32_t block,
                            float *work)
{
    if (block == 1) {
        return x;
    }
    /* Rotate a copy, because the caller still needs the vector. */
    memcpy(work, x, d * sizeof *x);
    kv_rotate_heads(k, work, 1, d, block);
    return work;
}

void kv_cache_put(const struct kv_cache *c, const struct kernels *k, uint32_t layer, uint32_t head,
                  uint32_t position, const float *key, const float *value, float *work)
{
    const struct kv_layer *l = &c->layers[layer];
    struct kv_tile keys = kv_cache_keys(c, layer, head, position / KV_TILE);
    struct kv_tile values = kv_cache_values(c, layer, head, position / KV_TILE);
    uint32_t j = position % KV_TILE;

    /* A vector is rotated first, if its type requires that. */
    keys.format->put_key(k, keys.data, l->head_dim, j,
                         rotated(k, key, l->head_dim, kv_cache_key_rotation(c, layer), work));
    values.format->put_value(k, values.data, l->value_dim, j,
                             rotated(k, value, l->value_dim, kv_cache_value_rotation(c, layer),
                                     work));
}
