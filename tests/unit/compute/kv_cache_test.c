/* A cache whose layers differ in width and number of heads, have no attention, share keys and values with another layer, or have
 * values that are the first part of their keys. Each returns what was put into it, and only layers that keep some take memory. */
#include "runtime/compute/kv_cache.h"

#include <string.h>

#include "kernels/kernels.h"
#include "tests/unit/tap.h"

enum {
    N_LAYERS = 7,
    CONTEXT = 3 * KV_TILE - 5,
    MOST_D = 128,
    WIDE = 1,
    SHARED = 4,
    LATENT = 6,
    RANK = 64
};

static const struct ingot_layer table[N_LAYERS] = {
    { .mixer = INGOT_MIXER_DELTA },
    { .mixer = INGOT_MIXER_ATTENTION, .n_kv_heads = 1, .head_dim = MOST_D, .kv_layer = WIDE },
    { .mixer = INGOT_MIXER_MAMBA2 },
    { .mixer = INGOT_MIXER_ATTENTION, .n_kv_heads = 3, .head_dim = 32, .kv_layer = 3 },
    { .mixer = INGOT_MIXER_ATTENTION,
      .n_kv_heads = 1,
      .head_dim = MOST_D,
      .kv_layer = WIDE,
      .features = INGOT_SHARED_KV },
    { .mixer = INGOT_MIXER_NONE },
    { .mixer = INGOT_MIXER_ATTENTION,
      .n_kv_heads = 1,
      .head_dim = 96,
      .kv_rank = RANK,
      .kv_layer = LATENT,
      .features = INGOT_LATENT_KV },
};
static const struct kv_layers layers = { table, N_LAYERS };
static const struct ingot_layer plain[3] = {
    { .mixer = INGOT_MIXER_ATTENTION, .n_kv_heads = 1, .head_dim = MOST_D },
    { .mixer = INGOT_MIXER_ATTENTION, .n_kv_heads = 3, .head_dim = 32 },
    { .mixer = INGOT_MIXER_ATTENTION, .n_kv_heads = 1, .head_dim = (96 + RANK) / 2 },
};
static _Alignas(64) uint8_t memory[1 << 20];
static struct kv_cache kv;
static struct kernels k;

/* A different number for each layer, head and position, which fp16 holds. */
static float number(uint32_t layer, uint32_t head, uint32_t position)
{
    return (float)(layer * 256 + head * 64 + position % 64) + (float)(position / 64) / 4;
}

static void put_all(void)
{
    float key[MOST_D], value[MOST_D], work[MOST_D];

    for (uint32_t i = 0; i < N_LAYERS; i++) {
        for (uint32_t h = 0; kv_cache_keeps(&table[i]) && h < table[i].n_kv_heads; h++) {
            for (uint32_t p = 0; p < CONTEXT; p++) {
                for (uint32_t d = 0; d < table[i].head_dim; d++) {
                    key[d] = number(i, h, p);
                    value[d] = -number(i, h, p);
                }
                kv_cache_put(&kv, &k, i, h, p, key, value, work);
            }
        }
    }
}

/* Looks at the first and the last dimension of every key and value. */
static unsigned count_wrong(uint32_t layer, uint32_t of)
{
    uint32_t last = table[layer].head_dim - 1, width = kv_cache_value_dim(&table[layer]);
    unsigned wrong = 0;

    for (uint32_t h = 0; h < table[layer].n_kv_heads; h++) {
        for (uint32_t p = 0; p < CONTEXT; p++) {
            const float *keys = kv_cache_keys(&kv, layer, h, p / KV_TILE).data;
            const float *values = kv_cache_values(&kv, layer, h, p / KV_TILE).data;
            uint32_t j = p % KV_TILE;
            float want = number(of, h, p);

            wrong += keys[j] < want || keys[j] > want;
            wrong += keys[last * KV_TILE + j] < want || keys[last * KV_TILE + j] > want;
            values += (size_t)j * width;
            wrong += values[0] < -want || values[0] > -want;
            wrong += values[width - 1] < -want || values[width - 1] > -want;
        }
    }
    return wrong;
}

int main(void)
{
    const struct kv_layers both = { plain, 3 };
    const struct ingot_layer uneven = { .mixer = INGOT_MIXER_ATTENTION,
                                        .n_kv_heads = 1,
                                        .head_dim = 96,
                                        .kv_rank = RANK - 8,
                                        .features = INGOT_LATENT_KV };
    size_t bytes = kv_cache_bytes(&layers, CONTEXT, kv_both(KV_F32));
    unsigned untouched = 0;

    kernels_select(&k, CPU_ANY);
    OK(bytes == kv_cache_bytes(&both, CONTEXT, kv_both(KV_F32)) && bytes + 64 <= sizeof memory,
       "%zu bytes are as much as the three layers that keep keys and values need", bytes);
    OK(kv_cache_page_bytes(&table[0], kv_both(KV_F16)) == 0 &&
           kv_cache_page_bytes(&table[SHARED], kv_both(KV_F16)) == 0 &&
           kv_cache_page_bytes(&table[WIDE], kv_both(KV_F16)) == 2 * KV_TILE * MOST_D * 2 &&
           kv_cache_largest_page(&layers, kv_both(KV_F16)) ==
               kv_cache_page_bytes(&table[WIDE], kv_both(KV_F16)),
       "each layer has its own pages");
    memset(memory, 0xa5, sizeof memory);
    kv_cache_open(&kv, &layers, CONTEXT, kv_both(KV_F32), memory);
    put_all();
    OK(count_wrong(1, 1) + count_wrong(3, 3) == 0, "each layer has what was put into it");
    OK(count_wrong(LATENT, LATENT) == 0 && kv_cache_value_dim(&table[LATENT]) == RANK,
       "values may be narrower than keys");
    OK(kv_cache_page_bytes(&uneven, kv_both(KV_Q8)) ==
           ((size_t)KV_TILE * (3 + 2) * (32 + 4) + 511) / 512 * 512,
       "a head's last block of Q8 is filled up");
    OK(count_wrong(SHARED, WIDE) == 0 && !kv.layers[SHARED].own,
       "a layer reads the cache of another");
    for (size_t i = bytes; i < sizeof memory; i++)
        untouched += memory[i] == 0xa5;
    OK(untouched == sizeof memory - bytes, "nothing is written beyond the cache");
    for (uint32_t i = 0; i < N_LAYERS; i++)
        kv_layer_set_pages(&kv.layers[i], 200 * 1024);
    kv.layers[LATENT].place = memory;
    OK(kv_cache_values(&kv, LATENT, 0, 2).data == memory + 2 * 200 * 1024 + 96 * KV_TILE * 4,
       "the values follow the keys in a page");
    return tap_done();
}
