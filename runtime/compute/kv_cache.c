#include "runtime/compute/kv_cache.h"
#include "board/min_max.h"

#include <string.h>

enum {
    BLOCK = 32,   /* dimensions that share a scale in Q8 */
    AT_ONCE = 64, /* dimensions of a key converted at a time */
};

const char *kv_type_name(enum kv_type type)
{
    static const char *const names[] = { [KV_F16] = "f16", [KV_Q8] = "q8", [KV_F32] = "f32" };

    return type < KV_N_TYPES ? names[type] : "unknown";
}

static size_t tile_bytes(uint32_t head_dim, enum kv_type type)
{
    switch (type) {
    case KV_Q8: return KV_TILE * (head_dim + head_dim / BLOCK * sizeof(float));
    case KV_F32: return KV_TILE * head_dim * sizeof(float);
    default: return KV_TILE * head_dim * sizeof(uint16_t);
    }
}

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

size_t kv_cache_page_bytes(const struct ingot_layer *l, enum kv_type type)
{
    if (!kv_cache_keeps(l)) {
        return 0;
    }
    return l->n_kv_heads *
           (tile_bytes(l->head_dim, type) + tile_bytes(kv_cache_value_dim(l), type));
}

size_t kv_cache_largest_page(const struct kv_layers *layers, enum kv_type type)
{
    size_t most = 0;

    for (uint32_t i = 0; i < layers->n; i++) {
        most = max_size(most, kv_cache_page_bytes(&layers->layers[i], type));
    }
    return most;
}

bool kv_cache_suits(const struct kv_layers *layers, enum kv_type type)
{
    bool suits = true;

    for (uint32_t i = 0; i < layers->n && type == KV_Q8; i++) {
        const struct ingot_layer *l = &layers->layers[i];

        suits = suits && (!kv_cache_keeps(l) ||
                          (l->head_dim % BLOCK == 0 && kv_cache_value_dim(l) % BLOCK == 0));
    }
    return suits;
}

size_t kv_cache_bytes(const struct kv_layers *layers, uint32_t context, enum kv_type type)
{
    size_t pages = 0;

    for (uint32_t i = 0; i < layers->n; i++) {
        pages += kv_cache_page_bytes(&layers->layers[i], type);
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
                   enum kv_type type, void *memory)
{
    uint8_t *place = memory;

    memset(c, 0, sizeof *c);
    c->type = type;
    c->n_tiles = (uint32_t)tiles(context);
    c->n_layers = layers->n;
    c->context = context;
    for (uint32_t i = 0; i < layers->n; i++) {
        const struct ingot_layer *l = &layers->layers[i];
        struct kv_layer *k = &c->layers[i];

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
        place += lay_part(&k->keys, 0, tile_bytes(k->head_dim, type), c->n_tiles, k->n_kv_heads);
        place += lay_part(&k->values, (size_t)(place - k->place), tile_bytes(k->value_dim, type),
                          c->n_tiles, k->n_kv_heads);
    }
}

static size_t tile_offset(const struct kv_part *part, uint32_t head, uint32_t i)
{
    return part->at + head * part->head_bytes + i * part->step_bytes;
}

const void *kv_cache_keys(const struct kv_cache *c, uint32_t layer, uint32_t head, uint32_t i)
{
    const struct kv_layer *l = &c->layers[layer];

    return l->place + tile_offset(&l->keys, head, i);
}

const void *kv_cache_values(const struct kv_cache *c, uint32_t layer, uint32_t head, uint32_t i)
{
    const struct kv_layer *l = &c->layers[layer];

    return l->place + tile_offset(&l->values, head, i);
}

/* Column j of the keys (head_dim, KV_TILE), row j of the values (KV_TILE, value_dim). */
static void put_f16(const struct kv_layer *l, const struct kernels *k, uint16_t *keys,
                    uint16_t *values, uint32_t j, const float *key, const float *value)
{
    uint32_t d = l->head_dim;
    uint16_t halves[AT_ONCE];

    for (uint32_t at = 0; at < d; at += AT_ONCE) {
        uint32_t n = min_u32(d - at, AT_ONCE);
        uint16_t *column = keys + (size_t)at * KV_TILE + j;

        k->convert_f16_f32(halves, key + at, n);
        for (uint32_t i = 0; i < n; i++) {
            column[(size_t)i * KV_TILE] = halves[i];
        }
    }
    k->convert_f16_f32(values + (size_t)j * l->value_dim, value, l->value_dim);
}

/* In the places of put_f16. */
static void put_f32(const struct kv_layer *l, float *keys, float *values, uint32_t j,
                    const float *key, const float *value)
{
    for (uint32_t i = 0; i < l->head_dim; i++) {
        keys[(size_t)i * KV_TILE + j] = key[i];
    }
    memcpy(values + (size_t)j * l->value_dim, value, l->value_dim * sizeof *value);
}

static void put_key_q8(uint32_t d, const struct kernels *k, uint8_t *tile, uint32_t j,
                       const float *key)
{
    float *scales = (float *)(void *)tile;
    uint32_t n_blocks = d / BLOCK;
    uint8_t *quants = tile + (size_t)n_blocks * KV_TILE * sizeof(float) + (size_t)j * 4;

    for (uint32_t b = 0; b < n_blocks; b++) {
        struct block_q8 block;

        k->quantize_q8_f32(&block, key + (size_t)b * BLOCK, BLOCK);
        scales[(size_t)b * KV_TILE + j] = block.d;
        for (uint32_t i = 0; i < BLOCK; i += 4, quants += (size_t)KV_TILE * 4) {
            memcpy(quants, block.q + i, 4);
        }
    }
}

static void put_value_q8(uint32_t d, const struct kernels *k, uint8_t *tile, uint32_t j,
                         const float *value)
{
    uint32_t n_blocks = d / BLOCK;
    float *scales = (float *)(void *)tile + (size_t)j * n_blocks;
    uint8_t *quants = tile + (size_t)n_blocks * KV_TILE * sizeof(float) + (size_t)j * d;

    for (uint32_t b = 0; b < n_blocks; b++) {
        struct block_q8 block;

        k->quantize_q8_f32(&block, value + (size_t)b * BLOCK, BLOCK);
        scales[b] = block.d;
        memcpy(quants + (size_t)b * BLOCK, block.q, BLOCK);
    }
}

void kv_cache_put(const struct kv_cache *c, const struct kernels *k, uint32_t layer, uint32_t head,
                  uint32_t position, const float *key, const float *value)
{
    const struct kv_layer *l = &c->layers[layer];
    uint8_t *keys = l->place + tile_offset(&l->keys, head, position / KV_TILE);
    uint8_t *values = l->place + tile_offset(&l->values, head, position / KV_TILE);
    uint32_t j = position % KV_TILE;

    if (c->type == KV_Q8) {
        put_key_q8(l->head_dim, k, keys, j, key);
        put_value_q8(l->value_dim, k, values, j, value);
    } else if (c->type == KV_F32) {
        put_f32(l, (float *)(void *)keys, (float *)(void *)values, j, key, value);
    } else {
        put_f16(l, k, (uint16_t *)(void *)keys, (uint16_t *)(void *)values, j, key, value);
    }
}
