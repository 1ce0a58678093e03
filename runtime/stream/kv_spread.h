/* Decides which layers may spill their keys and values to the card. If not all of these have to
 * spill, it also decides which ones do. */
#ifndef INGOT_RUNTIME_STREAM_KV_SPREAD_H
#define INGOT_RUNTIME_STREAM_KV_SPREAD_H

#include "runtime/image/image.h"

/* Return the number of layers that may spill. These are the layers whose own keys and values no
 * other layer reads. If another layer read them, they would have left memory before that layer's
 * turn. */
uint32_t kv_spread_most(const struct image *image);

/* A walk through the layers in order. */
struct kv_spread {
    const struct image *image;
    uint64_t n, whole; /* number of layers that may spill; how many of these stay in memory */
    uint64_t at;       /* number of visited layers that may spill */
};

struct kv_spread kv_spread_begin(const struct image *image, uint32_t n_spilled);

/* Return true if the next layer spills. Layers in memory are spread evenly, as weights are. */
bool kv_spread_next(struct kv_spread *s, uint32_t layer);

#endif
