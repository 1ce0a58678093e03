/* Keys and values of every position so far, in tiles of KV_TILE positions per layer and kv head,
 * laid out for the attention kernels (kernels/kernels.h): keys transposed, so that a vector's
 * lanes are positions; values position after position. */
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
    size_t at;         /* from the layer's place to the first tile */
    size_t tile_bytes; /* a multiple of 16 */
    size_t head_bytes; /* from a head to the next, ... */
    size_t step_bytes; /* ... a tile of a head */
};

/* The location of a layer's tiles of a tier that is not the hot one. */
struct kv_tier_place {
    size_t keys, values; /* from the layer's place to the first */
    uint32_t key_bytes, value_bytes;
};

/* Keys and values of a layer: (n_kv_heads, tiles, tile_bytes) of keys, then those of values, or as
 * kv_pages.h says. A layer that reads those of another has its place. */
struct kv_layer {
    uint8_t *place; /* NULL: none, or on a card until its turn */
    struct kv_part keys, values;
    uint32_t n_kv_heads;
    uint32_t head_dim;  /* of keys */
    uint32_t value_dim; /* of latent keys less: the first numbers of each are its value */
    bool own;           /* the layer writes them */
    struct kv_tier_place warm, cold;
};

/* How far tiers have moved (kv_tiers.h). */
struct kv_tiers {
    uint32_t tile;          /* in which the last pass was: what is stored how goes by it */
    uint32_t hot_from;      /* the first tile whose copy in the hot tier is there yet, ... */
    uint32_t warm_from;     /* ... and in the warm one */
    uint32_t n_hot, n_warm; /* tiles that the layers have room for there */
};

struct kv_cache {
    struct kv_types types;
    struct kv_pages *pages; /* NULL: all layers are in memory */
    struct kv_tiers tiers;  /* all 0: there are none */
    struct kv_pool *pool;   /* NULL: tile number i lies in slot i; else where ... */
    struct kv_table *table; /* ... says, one of the pool's, of the current sequence */
    uint32_t n_tiles;       /* per layer and head */
    uint32_t n_layers;
    uint32_t context;
    struct kv_layer layers[INGOT_MAX_LAYERS];
};

/* A table of layers, as in an image. */
struct kv_layers {
    const struct ingot_layer *layers;
    uint32_t n;
};

/* Whether a layer keeps keys and values of its own: it attends, and not to those of another. */
bool kv_cache_keeps(const struct ingot_layer *l);

/* The numbers of a value, as the cache keeps it. */
uint32_t kv_cache_value_dim(const struct ingot_layer *l);

/* For the layers that keep them. context is rounded up to whole tiles. */
size_t kv_cache_bytes(const struct kv_layers *layers, uint32_t context, struct kv_types types);

/* One tile of keys and of values of all heads of a layer, up to whole sectors (512). 0: it keeps
 * none. */
size_t kv_cache_page_bytes(const struct ingot_layer *l, struct kv_types types);

/* Such pages of the layer that has the largest. */
size_t kv_cache_largest_page(const struct kv_layers *layers, struct kv_types types);

/* memory: kv_cache_bytes() bytes, 64-byte aligned; any place where kv_pages_open follows. */
void kv_cache_open(struct kv_cache *c, const struct kv_layers *layers, uint32_t context,
                   struct kv_types types, void *memory);

/* A page of tile number i follows that of i - 1: in it the keys of all heads, then the values. */
void kv_layer_set_pages(struct kv_layer *l, size_t page_bytes);

/* Sequences share slots from now on: all of memory is the pool's, which has none of tiers and pages. */
void kv_cache_use_pool(struct kv_cache *c, struct kv_pool *pool);

/* Before positions first .. end are written. Core 0 only. */
void kv_cache_write(struct kv_cache *c, uint32_t first, uint32_t end);

/* Write one position of one head of one layer: key and value f32, 16-byte aligned. work: the longer
 * of them, aligned so; it may not be one of the two. The session knows which positions are valid. */
void kv_cache_put(const struct kv_cache *c, const struct kernels *k, uint32_t layer, uint32_t head,
                  uint32_t position, const float *key, const float *value, float *work);

/* Tile number i of one head of one layer, and how to read it. */
struct kv_tile {
    const struct kv_format *format;
    void *data;
};

/* Whether queries must be there in int8, too. */
bool kv_cache_integer_query(const struct kv_cache *c);

struct kv_tile kv_cache_keys(const struct kv_cache *c, uint32_t layer, uint32_t head, uint32_t i);
struct kv_tile kv_cache_values(const struct kv_cache *c, uint32_t layer, uint32_t head, uint32_t i);

/* Blocks in which kv_rotate turns a layer's keys (and queries), its values (and what is attended);
 * 1: they stay as they are. */
uint32_t kv_cache_key_rotation(const struct kv_cache *c, uint32_t layer);
uint32_t kv_cache_value_rotation(const struct kv_cache *c, uint32_t layer);

#endif
