#include "runtime/compute/kv_cache.h"
#include "board/min_max.h"
#include "runtime/compute/kv_rotate.h"

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

size_t kv_cache_bytes(const struct kv_layers *layers, uint32_t context, struct kv_types types)
{
    size_t pages = 0;

    for (uint32_t i = 0; i < layers->n; i++) {
        pages += kv_cache_page_bytes(&layers->layers[i], types);
    }
    return tiles(context) * pages;
}

/* All tiles of a head follow each other; returns what all heads take. */
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

void kv_cache_open(struct kv_cache *c, const struct kv_layers *layers, uint32_t context,
                   struct kv_types types, void *memory)
{
    uint8_t *place = memory;

    memset(c, 0, sizeof *c);
    c->types = types;
    c->n_tiles = (uint32_t)tiles(context);
    c->n_layers = layers->n;
    c->context = context;
    for (uint32_t i = 0; i < layers->n; i++) {
        const struct ingot_layer *l = &layers->layers[i];
        struct kv_layer *k = &c->layers[i];
        size_t size;

        if (l->mixer != INGOT_MIXER_ATTENTION) {
            continue;
        }
        if (!kv_cache_keeps(l)) { /* an earlier layer, which the reader has checked */
            *k = c->layers[l->kv_layer];
            k->own = false;
            continue;
        }
        k->n_kv_heads = l->n_kv_heads;
        k->head_dim = l->head_dim;
        k->value_dim = kv_cache_value_dim(l);
        k->own = true;
        k->place = place;
        size = lay_part(&k->keys, 0, key_bytes(l, types), c->n_tiles, k->n_kv_heads);
        (void)lay_part(&k->values, size, value_bytes(l, types), c->n_tiles, k->n_kv_heads);
        place += c->n_tiles * kv_cache_page_bytes(l, types);
    }
}

static size_t tile_offset(const struct kv_part *part, uint32_t head, uint32_t i)
{
    return part->at + head * part->head_bytes + i * part->step_bytes;
}

struct kv_tile kv_cache_keys(const struct kv_cache *c, uint32_t layer, uint32_t head, uint32_t i)
{
    const struct kv_layer *l = &c->layers[layer];

    return (struct kv_tile){ &kv_formats[c->types.keys],
                             l->place + tile_offset(&l->keys, head, i) };
}

struct kv_tile kv_cache_values(const struct kv_cache *c, uint32_t layer, uint32_t head, uint32_t i)
{
    const struct kv_layer *l = &c->layers[layer];

    return (struct kv_tile){ &kv_formats[c->types.values],
                             l->place + tile_offset(&l->values, head, i) };
}

uint32_t kv_cache_key_rotation(const struct kv_cache *c, uint32_t layer)
{
    return kv_formats[c->types.keys].rotated ? kv_rotation(c->layers[layer].head_dim) : 1;
}

uint32_t kv_cache_value_rotation(const struct kv_cache *c, uint32_t layer)
{
    return kv_formats[c->types.values].rotated ? kv_rotation(c->layers[layer].value_dim) : 1;
}

static const float *rotated(const float *x, uint32_t d, uint32_t block, float *work)
{
    if (block == 1) {
        return x;
    }
    memcpy(work, x, d * sizeof *x);
    kv_rotate(work, 1, d, block);
    return work;
}

void kv_cache_put(const struct kv_cache *c, const struct kernels *k, uint32_t layer, uint32_t head,
                  uint32_t position, const float *key, const float *value, float *work)
{
    const struct kv_layer *l = &c->layers[layer];
    struct kv_tile keys = kv_cache_keys(c, layer, head, position / KV_TILE);
    struct kv_tile values = kv_cache_values(c, layer, head, position / KV_TILE);
    uint32_t j = position % KV_TILE;

    keys.format->put_key(k, keys.data, l->head_dim, j,
                         rotated(key, l->head_dim, kv_cache_key_rotation(c, layer), work));
    values.format->put_value(k, values.data, l->value_dim, j,
                             rotated(value, l->value_dim, kv_cache_value_rotation(c, layer), work));
}
