/* Keys and values of every position so far, in tiles of KV_TILE positions per layer and kv head,
 * laid out for the attention kernels (kernels/kernels.h): keys are transposed, so each lane of a
 * vector is one position; values are stored position after position. */
#ifndef INGOT_RUNTIME_KV_CACHE_H
#define INGOT_RUNTIME_KV_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flash_image/format/format.h"
#include "kernels/kernels.h"
#include "runtime/compute/kv_format.h"
#include "runtime/compute/kv_pool.h"

struct kv_pages;

/* The location of a layer's keys, or its values. */
struct kv_part {
    size_t at;         /* bytes from the layer's memory to the first tile */
    size_t tile_bytes; /* a multiple of 16 */
    size_t head_bytes; /* bytes from one head to the next */
    size_t step_bytes; /* bytes from one tile of a head to the next */
};

/* The location of a layer's tiles in a tier other than the hot one. */
struct kv_tier_place {
    size_t keys, values; /* bytes from the layer's memory to the first tile */
    uint32_t key_bytes, value_bytes;
};

/* Keys and values of a layer: (n_kv_heads, tiles, tile_bytes) of keys, then the same of values,
 * or as described in kv_pages.h. A layer that reads another layer's cache has that layer's
 * `place`. */
struct kv_layer {
    uint8_t *place; /* NULL if there is no cache, or while it is on a card */
    struct kv_part keys, values;
    uint32_t n_kv_heads;
    uint32_t head_dim;  /* of keys */
    uint32_t value_dim; /* width of a value; with latent keys it is less than head_dim: a value is
                         * the beginning of its key */
    bool own;           /* this layer writes the keys and values */
    struct kv_tier_place warm, cold;
};

/* How far tiles have moved through the tiers (kv_tiers.h). */
struct kv_tiers {
    uint32_t tile;          /* the tile of the last pass; it decides how each tile is stored */
    uint32_t hot_from;      /* the first tile that the hot tier still holds */
    uint32_t warm_from;     /* the first tile that the warm tier still holds */
    uint32_t n_hot, n_warm; /* room in the hot and the warm tier, in tiles */
};

struct kv_cache {
    struct kv_types types;
    struct kv_pages *pages; /* NULL: all layers are in memory */
    struct kv_tiers tiers;  /* all 0: no tiers */
    struct kv_pool *pool;   /* NULL: tile i is in slot i */
    struct kv_table *table; /* the pool's slots of the current sequence */
    uint32_t n_tiles;       /* per layer and head */
    uint32_t n_layers;
    uint32_t context;
    struct kv_layer layers[INGOT_MAX_LAYERS];
};

/* The layers' table, as in an image. */
struct kv_layers {
    const struct ingot_layer *layers;
    uint32_t n;
};

/* Return true if a layer keeps keys and values of its own: it has attention, and does not read
 * another layer's cache. */
bool kv_cache_keeps(const struct ingot_layer *l);

/* Return the number of elements of a value vector in the cache. */
uint32_t kv_cache_value_dim(const struct ingot_layer *l);

/* Bytes of the cache for the layers that keep keys and values. context is rounded up to whole
 * tiles. */
size_t kv_cache_bytes(const struct kv_layers *layers, uint32_t context, struct kv_types types);

/* Bytes of a page: one tile of keys and of values of all heads of a layer, rounded up to whole
 * sectors (512). Return 0 if the layer keeps no keys. */
size_t kv_cache_page_bytes(const struct ingot_layer *l, struct kv_types types);

/* Bytes of the largest page of any layer. */
size_t kv_cache_largest_page(const struct kv_layers *layers, struct kv_types types);

/* Open a cache. memory has kv_cache_bytes() bytes, 64-byte aligned, or 0 bytes if kv_pages_open
 * follows. */
void kv_cache_open(struct kv_cache *c, const struct kv_layers *layers, uint32_t context,
                   struct kv_types types, void *memory);

/* Store a layer in pages: one page after another, one for each tile, with the keys of all
 * heads and then the values. */
void kv_layer_set_pages(struct kv_layer *l, size_t page_bytes);

/* Sequences share slots from now on: the pool manages the whole memory. Not for caches with
 * tiers or pages. */
void kv_cache_use_pool(struct kv_cache *c, struct kv_pool *pool);

/* Call before positions [first, end) are written. Core 0 only. */
void kv_cache_write(struct kv_cache *c, uint32_t first, uint32_t end);

/* Write one position of one head of one layer. key and value are f32, 16-byte aligned. work is as
 * long as the longer of key and value, 16-byte aligned, and overlaps neither. The session knows
 * which positions are valid. */
void kv_cache_put(const struct kv_cache *c, const struct kernels *k, uint32_t layer, uint32_t head,
                  uint32_t position, const float *key, const float *value, float *work);

/* Tile i of one head of one layer, and its format. */
struct kv_tile {
    const struct kv_format *format;
    void *data;
};

/* Return true if the cache needs queries in int8 as well as in f32. */
bool kv_cache_integer_query(const struct kv_cache *c);

struct kv_tile kv_cache_keys(const struct kv_cache *c, uint32_t layer, uint32_t head, uint32_t i);
struct kv_tile kv_cache_values(const struct kv_cache *c, uint32_t layer, uint32_t head, uint32_t i);

/* Return the block sizes in which kv_rotate rotates a layer's keys (and queries), and its values
 * (and the attended sum); 1: no rotation. */
uint32_t kv_cache_key_rotation(const struct kv_cache *c, uint32_t layer);
uint32_t kv_cache_value_rotation(const struct kv_cache *c, uint32_t layer);

#endif
