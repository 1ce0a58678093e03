#include "runtime/stream/kv_spread.h"

#include "runtime/compute/kv_cache.h"

/* Return true if a later layer reads this layer's keys and values, which must then stay. */
static bool is_read_again(const struct image *image, uint32_t layer)
{
    for (uint32_t i = layer + 1; i < image->header->params.n_layers; i++) {
        const struct ingot_layer *l = image_layer(image, i);

        if ((l->features & INGOT_SHARED_KV) != 0 && l->kv_layer == layer) {
            return true;
        }
    }
    return false;
}

static bool can_spill(const struct image *image, uint32_t layer)
{
    return kv_cache_keeps(image_layer(image, layer)) && !is_read_again(image, layer);
}

uint32_t kv_spread_most(const struct image *image)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < image->header->params.n_layers; i++) {
        n += can_spill(image, i);
    }
    return n;
}

struct kv_spread kv_spread_begin(const struct image *image, uint32_t n_spilled)
{
    uint32_t n = kv_spread_most(image);

    return (struct kv_spread){ image, n, n - n_spilled, 0 };
}

bool kv_spread_next(struct kv_spread *s, uint32_t layer)
{
    uint64_t at = s->at;

    if (!can_spill(s->image, layer)) {
        return false;
    }
    s->at++;
    return (at + 1) * s->whole / s->n == at * s->whole / s->n;
}
