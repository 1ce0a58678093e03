#include "runtime/model/kv_drop.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/compute/kv_rotate.h"
#include "runtime/image/image.h"

const char *kv_drop_error_message(const struct image *image, const struct kv_cache *c)
{
    if (c->pages != NULL) {
        return "its keys are on the card";
    }
    if (c->types.hot_tiles != 0) {
        return "its keys lie in tiers by age";
    }
    for (uint32_t i = 0; i < c->n_layers; i++) {
        if (c->layers[i].own && (image_layer(image, i)->features & INGOT_QK_NORM_LATE) != 0) {
            return "its keys are normed after they are rotated";
        }
    }
    return NULL;
}

/* The data needed to move keys from one tile to another. */
struct turn {
    const struct transformer *t;
    const struct ingot_layer *layer;
    uint32_t block;   /* the block size for kv_rotate */
    const float *row; /* cosines and sines of the difference, or NULL if heads do not rotate */
};

static void turn_key(const struct turn *r, float *key)
{
    const struct ingot_rope *rope = &r->t->image->header->ropes[r->layer->rope];
    uint32_t d = r->layer->head_dim;
    float *rotated = key;

    if ((r->layer->features & INGOT_LATENT_KV) != 0) {
        rotated += r->layer->kv_rank;
    }
    kv_rotate(key, 1, d, r->block);
    if (rope->kind == INGOT_ROPE_PAIRS) {
        r->t->kernels->rope_f32_pairs(rotated, r->row, rope->dims);
    } else {
        r->t->kernels->rope_f32_halves(rotated, r->row, rope->dims);
    }
    kv_rotate(key, 1, d, r->block);
}

/* Move the keys of the first n positions. */
static void move_keys(const struct turn *r, struct kv_tile to, struct kv_tile from, uint32_t n)
{
    float *key = r->t->act.attention[0].q;
    uint32_t d = r->layer->head_dim;

    if (r->row == NULL) {
        memcpy(to.data, from.data, to.format->key_bytes(d));
        return;
    }
    for (uint32_t j = 0; j < n; j++) {
        from.format->get_key(from.data, d, j, key);
        turn_key(r, key);
        to.format->put_key(r->t->kernels, to.data, d, j, key);
    }
}

/* Return the rotation for positions that decrease by n. This is the rotation of position n, with
 * the opposite sign. Return NULL if the layer does not rotate. */
static const float *row_back(const struct transformer *t, uint32_t rope, uint32_t n, bool is_long)
{
    float *row;

    if (rope == INGOT_NO_ROPE) {
        return NULL;
    }
    row = t->act.cos_sin[rope];
    transformer_rope_row(t, rope, n, is_long, row);
    for (uint32_t i = 1; i < t->image->header->ropes[rope].dims; i += 2) {
        row[i] = -row[i];
    }
    return row;
}

/* For all heads of a layer, copy n positions of tile `source` to tile `tile`. */
static void move_tile(const struct turn *r, const struct kv_cache *c, uint32_t layer, uint32_t tile,
                      uint32_t source, uint32_t n)
{
    for (uint32_t head = 0; head < r->layer->n_kv_heads; head++) {
        struct kv_tile values = kv_cache_values(c, layer, head, tile);

        move_keys(r, kv_cache_keys(c, layer, head, tile), kv_cache_keys(c, layer, head, source), n);
        memcpy(values.data, kv_cache_values(c, layer, head, source).data,
               values.format->value_bytes(c->layers[layer].value_dim));
    }
}

void kv_drop(const struct transformer *t, const struct kv_cache *c, uint32_t from, uint32_t n,
             uint32_t end, bool is_long)
{
    for (uint32_t i = 0; i < c->n_layers; i++) {
        const struct ingot_layer *l = image_layer(t->image, i);
        struct turn r = { t, l, kv_cache_key_rotation(c, i), row_back(t, l->rope, n, is_long) };

        for (uint32_t at = from; at < end - n && c->layers[i].own; at += KV_TILE) {
            move_tile(&r, c, i, at / KV_TILE, (at + n) / KV_TILE, min_u32(KV_TILE, end - n - at));
        }
    }
}
