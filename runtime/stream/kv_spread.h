/* Which layers' keys and values go to the card: those that may, and which of them if not all
 * have to. */
#ifndef INGOT_RUNTIME_STREAM_KV_SPREAD_H
#define INGOT_RUNTIME_STREAM_KV_SPREAD_H

#include "runtime/image/image.h"

/* Layers that may spill: they keep keys and values, and no other layer reads these, because they
 * would have left memory by then. */
uint32_t kv_spread_most(const struct image *image);

/* Goes through the layers in order. */
struct kv_spread {
    const struct image *image;
    uint64_t n, whole; /* layers that may spill; of them, in memory */
    uint64_t at;       /* how many came already */
};

struct kv_spread kv_spread_begin(const struct image *image, uint32_t n_spilled);

/* Whether the next layer spills: those in memory are spread evenly, as weights are. */
bool kv_spread_next(struct kv_spread *s, uint32_t layer);

#endif
