/* Positions are taken out of the middle of a cache: every key that moves up equals, within its
 * type's rounding, the key of the same head rotated for its new position; every value keeps its
 * bytes, and so do the first positions. For layers of all kinds and every type. */
#include "runtime/model/kv_drop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/compute/kv_rotate.h"
#include "runtime/image/image.h"
#include "tests/unit/tap.h"

enum { MIXED_4B8 = 8 }; /* of tests/bench/kv */
enum { LAYERS = 6, MOST = 128, CONTEXT = 512, CACHE_BYTES = 8 << 20, FIRST = 64 };

/* Rotation by pairs; by halves, of a part of the head, after a window; none; latent keys; another
 * layer's; two heads, with factors. */
static struct ingot_layer layers[LAYERS] = {
    { .n_kv_heads = 1, .head_dim = 64, .value_dim = 64, .rope = 0 },
    { .n_kv_heads = 2, .head_dim = 48, .value_dim = 48, .rope = 1, .window = 100 },
    { .n_kv_heads = 1, .head_dim = 10, .value_dim = 10, .rope = INGOT_NO_ROPE },
    { .n_kv_heads = 1,
      .head_dim = 40,
      .value_dim = 32,
      .kv_rank = 32,
      .rope = 2,
      .features = INGOT_LATENT_KV },
    { .n_kv_heads = 1,
      .head_dim = 64,
      .value_dim = 64,
      .rope = 0,
      .features = INGOT_SHARED_KV,
      .kv_layer = 0 },
    { .n_kv_heads = 2, .head_dim = 128, .value_dim = 128, .rope = 3 },
};
static struct ingot_header header = {
    .params = { .n_layers = LAYERS, .head_dim = MOST, .n_ropes = 4 },
    .ropes = { { INGOT_ROPE_PAIRS, 64, 10000.0f, 1.0f, INGOT_NO_FACTORS, 0, 0, 0 },
               { INGOT_ROPE_HALVES, 16, 1000000.0f, 1.0f, INGOT_NO_FACTORS, 0, 0, 0 },
               { INGOT_ROPE_PAIRS, 8, 10000.0f, 1.0f, INGOT_NO_FACTORS, 0, 0, 0 },
               { INGOT_ROPE_HALVES, 128, 500000.0f, 1.25f, 0, MOST / 2, 100, 0 } },
};
static float factors[MOST];
static struct image image = { .header = &header, .layers = layers, .factors = factors };

static struct kernels k;
static struct transformer t = { .image = &image, .kernels = &k };
static bool is_long; /* keys have the long factors of LongRoPE */
static struct kv_cache cache;
static uint8_t *memory, *before;
static _Alignas(64) float row[MOST], work[MOST], head[MOST];

static void make_head(float *x, uint32_t layer, uint32_t at, uint32_t position)
{
    uint32_t random = layer * 7919 + at * 104729 + position * 613 + 17;

    for (uint32_t i = 0; i < MOST; i++) {
        random = random * 1664525u + 1013904223u;
        x[i] = (float)(int32_t)random * 0x1p-31f;
    }
}

/* Rotates as the model does, with its magnitude. */
static void rotate(const struct ingot_layer *l, float *x, uint32_t position)
{
    const struct ingot_rope *rope;

    if (l->rope == INGOT_NO_ROPE) {
        return;
    }
    rope = &header.ropes[l->rope];
    transformer_rope_row(&t, l->rope, position, is_long, row);
    k.scale_f32(row, row, rope->dims, rope->magnitude);
    (rope->kind == INGOT_ROPE_PAIRS ? k.rope_f32_pairs : k.rope_f32_halves)(x + l->kv_rank, row,
                                                                            rope->dims);
}

static void fill(struct kv_types types, uint32_t n)
{
    kv_cache_open(&cache, &(struct kv_layers){ layers, LAYERS }, CONTEXT, types, memory);
    memset(memory, 0x7f, CACHE_BYTES);
    for (uint32_t i = 0; i < LAYERS; i++) {
        for (uint32_t at = 0; at < n * layers[i].n_kv_heads && cache.layers[i].own; at++) {
            _Alignas(16) float key[MOST], value[MOST];

            make_head(value, i + LAYERS, at % layers[i].n_kv_heads, at / layers[i].n_kv_heads);
            make_head(key, i, at % layers[i].n_kv_heads, at / layers[i].n_kv_heads);
            rotate(&layers[i], key, at / layers[i].n_kv_heads);
            kv_cache_put(&cache, &k, i, at % layers[i].n_kv_heads, at / layers[i].n_kv_heads, key,
                         value, work);
        }
    }
    memcpy(before, memory, CACHE_BYTES);
}

/* Returns how far a key is off when the head of position `was` is rotated for `is`. */
static double key_error(uint32_t layer, uint32_t at, uint32_t was, uint32_t is)
{
    const struct ingot_layer *l = &layers[layer];
    struct kv_tile keys = kv_cache_keys(&cache, layer, at, is / KV_TILE);
    double error = 0;

    keys.format->get_key(keys.data, l->head_dim, is % KV_TILE, head);
    kv_rotate(head, 1, l->head_dim, kv_cache_key_rotation(&cache, layer));
    make_head(work, layer, at, was);
    rotate(l, work, is);
    for (uint32_t i = 0; i < l->head_dim; i++) {
        error = fmax(error, fabs((double)head[i] - (double)work[i]));
    }
    return error;
}

/* Compares a tile with its earlier contents. */
static bool is_tile(struct kv_tile now, struct kv_tile then, size_t bytes)
{
    const uint8_t *was = before + ((uint8_t *)then.data - memory);

    return memcmp(now.data, was, bytes) == 0;
}

struct drop {
    uint32_t from, n, end;
};

/* Finds the worst moved key of all layers, and counts tiles that have changed. */
static double check(struct drop d, unsigned *wrong)
{
    double worst = 0;

    for (uint32_t i = 0; i < LAYERS; i++) {
        const struct kv_layer *l = &cache.layers[i];

        for (uint32_t h = 0; h < l->n_kv_heads && l->own; h++) {
            for (uint32_t p = d.from; p < d.end - d.n; p++) {
                worst = fmax(worst, key_error(i, h, p + d.n, p));
            }
            for (uint32_t tile = 0; tile < (d.end - d.n + KV_TILE - 1) / KV_TILE; tile++) {
                uint32_t source = tile < d.from / KV_TILE ? tile : tile + d.n / KV_TILE;

                *wrong += !is_tile(kv_cache_values(&cache, i, h, tile),
                                   kv_cache_values(&cache, i, h, source), l->values.tile_bytes);
                *wrong += tile < d.from / KV_TILE &&
                          !is_tile(kv_cache_keys(&cache, i, h, tile),
                                   kv_cache_keys(&cache, i, h, tile), l->keys.tile_bytes);
            }
        }
    }
    return worst;
}

/* Moves them twice, as happens to keys that live long. */
static void test_type(enum kv_type type, double most)
{
    struct drop first = { FIRST, 128, 401 }, whole = { 128, 64, 512 }, none = { 64, 256, 320 };
    unsigned wrong = 0;
    double worst = 0;

    fill(kv_both(type), first.end);
    kv_drop(&t, &cache, first.from, first.n, first.end, is_long);
    worst = check(first, &wrong);
    fill(kv_both(type), whole.end);
    kv_drop(&t, &cache, whole.from, whole.n, whole.end, is_long);
    worst = fmax(worst, check(whole, &wrong));
    fill(kv_both(type), none.end);
    kv_drop(&t, &cache, none.from, none.n, none.end, is_long);
    wrong += memcmp(memory, before, CACHE_BYTES) != 0;
    OK(worst > 0 && worst < most && wrong == 0,
       "%s: keys are off by %.2g at most, and %u tiles differ from what they were",
       kv_formats[type].name, worst, wrong);
}

static void test_error_messages(void)
{
    struct kv_pages *pages = (struct kv_pages *)memory;

    fill(kv_both(KV_F16), 1);
    OK(kv_drop_error_message(&image, &cache) == NULL,
       "nothing prevents a drop in layers of this kind");
    layers[4].features |= INGOT_QK_NORM_LATE;
    OK(kv_drop_error_message(&image, &cache) == NULL,
       "nothing prevents a drop in a layer that reads another's keys");
    layers[1].features |= INGOT_QK_NORM_LATE;
    OK(kv_drop_error_message(&image, &cache) != NULL,
       "a drop is refused if keys are normed late: %s", kv_drop_error_message(&image, &cache));
    layers[1].features = 0;
    cache.pages = pages;
    OK(kv_drop_error_message(&image, &cache) != NULL,
       "a drop is refused if there are pages on a card: %s", kv_drop_error_message(&image, &cache));
}

int main(void)
{
    memory = aligned_alloc(64, CACHE_BYTES);
    before = aligned_alloc(64, CACHE_BYTES);
    kernels_select(&k, CPU_ANY);
    for (uint32_t i = 0; i < LAYERS; i++) {
        layers[i].mixer = INGOT_MIXER_ATTENTION;
    }
    for (uint32_t i = 0; i < MOST / 2; i++) {
        factors[i] = 1.0f + (float)i / 7;
        factors[MOST / 2 + i] = 2.0f + (float)i / 3;
    }
    for (uint32_t i = 0; i < header.params.n_ropes; i++) {
        t.act.cos_sin[i] = aligned_alloc(64, sizeof row);
    }
    t.act.attention[0].q = aligned_alloc(64, sizeof work);
    test_type(KV_F32, 1e-6);
    test_type(KV_F16, 2e-3);
    test_type(KV_Q8, 3e-2);
    test_type(KV_ROT_Q8, 3e-2);
    test_type(KV_ROT_Q4, .7);
    test_type(KV_UNIFORM_4B, .3);
    test_type((enum kv_type)MIXED_4B8, .4);
    is_long = true;
    test_type(KV_F32, 1e-6);
    test_error_messages();
    free(memory);
    free(before);
    for (uint32_t i = 0; i < header.params.n_ropes; i++) {
        free(t.act.cos_sin[i]);
    }
    free(t.act.attention[0].q);
    return tap_done();
}
