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

size_t kv_cache_page_bytes(const struct ingot_params *p, enum kv_type type)
{
    return 2 * p->n_kv_heads * tile_bytes(p->head_dim, type);
}

size_t kv_cache_bytes(const struct ingot_params *p, uint32_t context, enum kv_type type)
{
    return p->n_layers * tiles(context) * kv_cache_page_bytes(p, type);
}

void kv_cache_open(struct kv_cache *c, const struct ingot_params *p, uint32_t context,
                   enum kv_type type, void *memory)
{
    c->keys = memory;
    c->type = type;
    c->tile_bytes = tile_bytes(p->head_dim, type);
    c->n_tiles = (uint32_t)tiles(context);
    c->step_bytes = c->tile_bytes;
    c->head_bytes = c->n_tiles * c->step_bytes;
    c->layer_bytes = p->n_kv_heads * c->head_bytes;
    c->values = c->keys + p->n_layers * c->layer_bytes;
    c->pages = NULL;
    c->n_kv_heads = p->n_kv_heads;
    c->head_dim = p->head_dim;
    c->context = context;
}

static size_t tile_offset(const struct kv_cache *c, uint32_t layer, uint32_t head, uint32_t i)
{
    return layer * c->layer_bytes + head * c->head_bytes + i * c->step_bytes;
}

const void *kv_cache_keys(const struct kv_cache *c, uint32_t layer, uint32_t head, uint32_t i)
{
    return c->keys + tile_offset(c, layer, head, i);
}

const void *kv_cache_values(const struct kv_cache *c, uint32_t layer, uint32_t head, uint32_t i)
{
    return c->values + tile_offset(c, layer, head, i);
}

/* Column j of the keys (head_dim, KV_TILE), row j of the values (KV_TILE, head_dim). */
static void put_f16(const struct kv_cache *c, const struct kernels *k, uint16_t *keys,
                    uint16_t *values, uint32_t j, const float *key, const float *value)
{
    uint16_t halves[AT_ONCE];

    for (uint32_t at = 0; at < c->head_dim; at += AT_ONCE) {
        uint32_t n = min_u32(c->head_dim - at, AT_ONCE);
        uint16_t *column = keys + (size_t)at * KV_TILE + j;

        k->convert_f16_f32(halves, key + at, n);
        for (uint32_t i = 0; i < n; i++) {
            column[(size_t)i * KV_TILE] = halves[i];
        }
    }
    k->convert_f16_f32(values + (size_t)j * c->head_dim, value, c->head_dim);
}

/* In the places of put_f16. */
static void put_f32(const struct kv_cache *c, float *keys, float *values, uint32_t j,
                    const float *key, const float *value)
{
    for (uint32_t i = 0; i < c->head_dim; i++) {
        keys[(size_t)i * KV_TILE + j] = key[i];
    }
    memcpy(values + (size_t)j * c->head_dim, value, c->head_dim * sizeof *value);
}

static void put_key_q8(const struct kv_cache *c, const struct kernels *k, uint8_t *tile, uint32_t j,
                       const float *key)
{
    float *scales = (float *)(void *)tile;
    uint32_t n_blocks = c->head_dim / BLOCK;
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

static void put_value_q8(const struct kv_cache *c, const struct kernels *k, uint8_t *tile,
                         uint32_t j, const float *value)
{
    uint32_t n_blocks = c->head_dim / BLOCK;
    float *scales = (float *)(void *)tile + (size_t)j * n_blocks;
    uint8_t *quants = tile + (size_t)n_blocks * KV_TILE * sizeof(float) + (size_t)j * c->head_dim;

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
    size_t offset = tile_offset(c, layer, head, position / KV_TILE);
    uint8_t *keys = c->keys + offset;
    uint8_t *values = c->values + offset;
    uint32_t j = position % KV_TILE;

    if (c->type == KV_Q8) {
        put_key_q8(c, k, keys, j, key);
        put_value_q8(c, k, values, j, value);
    } else if (c->type == KV_F32) {
        put_f32(c, (float *)(void *)keys, (float *)(void *)values, j, key, value);
    } else {
        put_f16(c, k, (uint16_t *)(void *)keys, (uint16_t *)(void *)values, j, key, value);
    }
}
